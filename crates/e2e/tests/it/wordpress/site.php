<?php
/**
 * As much of WordPress as the example needs, for PHP's own server: routes, options, and a database of one table that is a
 * file. What the example's actions do is written down, or slow, or fails, as the effect's own key says.
 */

declare(strict_types=1);

define('ORDEM_SECRETS', [getenv('SECRETS'), getenv('SECRET_PLAIN'), '', 'whsec_', 'whsec_no base64!']);

$routes = $actions = [];

function add_action(string $name, callable $do, int $priority = 10, int $arguments = 1): void
{
    global $actions;
    $actions[$name][] = $do;
}

function do_action(string $name, ...$arguments): void
{
    global $actions;
    foreach ($actions[$name] ?? [] as $do) {
        $do(...$arguments);
    }
}

function register_rest_route(string $space, string $route, array $options): void
{
    global $routes;
    $routes["/wp-json/$space$route"] = $options;
}

function kept(string $name): string
{
    return getenv('STATE') . '/' . str_replace('/', '-', $name);
}

function get_option(string $name)
{
    return is_file(kept("option-$name")) ? file_get_contents(kept("option-$name")) : false;
}

function update_option(string $name, string $value): bool
{
    return file_put_contents(kept("option-$name"), $value) !== false;
}

function wp_next_scheduled(string $hook)
{
    return get_option("next-$hook");
}

function wp_schedule_event(int $at, string $every, string $hook): bool
{
    return update_option("next-$hook", (string) $at);
}

class WP_Error
{
    public array $data;
    public string $message;

    public function __construct(string $code, string $message, array $data)
    {
        $this->message = $message;
        $this->data = $data;
    }
}

class WP_REST_Response
{
    public array $data;
    public int $status;

    public function __construct(array $data, int $status)
    {
        $this->data = $data;
        $this->status = $status;
    }
}

class WP_REST_Request
{
    private string $body;

    public function __construct()
    {
        $this->body = file_get_contents('php://input');
    }

    public function get_body(): string
    {
        return $this->body;
    }

    public function get_header(string $name): ?string
    {
        return $_SERVER['HTTP_' . strtoupper(str_replace('-', '_', $name))] ?? null;
    }
}

/** One table, webhook_id => [started_at, done_at], that takes just the statements of the example. */
class Database
{
    public string $prefix = 'wp_';

    public function get_charset_collate(): string
    {
        return '';
    }

    /** As WordPress does: %s becomes a quoted text, %d a number. */
    public function prepare(string $sql, ...$values): string
    {
        $at = 0;
        return preg_replace_callback('/%[sd]/', function (array $found) use ($values, &$at): string {
            $value = $values[$at++];
            return $found[0] === '%s' ? "'" . addslashes((string) $value) . "'" : (string) (int) $value;
        }, $sql);
    }

    public function get_row(string $sql): ?object
    {
        $row = $this->locked(fn (array &$rows) => $rows[$this->id($sql)] ?? null);
        return $row === null ? null : (object) ['started_at' => (string) $row[0], 'done_at' => (string) $row[1]];
    }

    public function query(string $sql)
    {
        if (strncmp($sql, 'CREATE TABLE IF NOT EXISTS wp_ordem_effects (', 45) === 0) {
            return true;
        }
        return $this->locked(function (array &$rows) use ($sql) {
            if (preg_match("/^INSERT IGNORE INTO wp_ordem_effects \(webhook_id, started_at, done_at\) VALUES \('(.*)', (\d+), 0\)$/", $sql, $found)) {
                if (isset($rows[$found[1]])) {
                    return 0;
                }
                $rows[$found[1]] = [(int) $found[2], 0];
                return 1;
            }
            if (preg_match("/^UPDATE wp_ordem_effects SET started_at = (\d+) WHERE webhook_id = '(.*)' AND started_at = (\d+) AND done_at = 0$/", $sql, $found)) {
                if (($rows[$found[2]] ?? null) !== [(int) $found[3], 0]) {
                    return 0;
                }
                $rows[$found[2]][0] = (int) $found[1];
                return 1;
            }
            if (preg_match("/^UPDATE wp_ordem_effects SET done_at = (\d+) WHERE webhook_id = '(.*)'$/", $sql, $found)) {
                $rows[$found[2]][1] = (int) $found[1];
                return 1;
            }
            if (preg_match("/^DELETE FROM wp_ordem_effects WHERE webhook_id = '(.*)' AND done_at = 0 AND started_at = (\d+)$/", $sql, $found)) {
                if (($rows[$found[1]] ?? null) !== [(int) $found[2], 0]) {
                    return 0;
                }
                unset($rows[$found[1]]);
                return 1;
            }
            if (preg_match('/^DELETE FROM wp_ordem_effects WHERE done_at > 0 AND done_at < (\d+)$/', $sql, $found)) {
                $before = count($rows);
                $rows = array_filter($rows, fn (array $row): bool => $row[1] === 0 || $row[1] >= (int) $found[1]);
                return $before - count($rows);
            }
            throw new Exception("no such statement here: $sql");
        });
    }

    private function id(string $sql): string
    {
        if (!preg_match("/^SELECT started_at, done_at FROM wp_ordem_effects WHERE webhook_id = '(.*)'$/", $sql, $found)) {
            throw new Exception("no such statement here: $sql");
        }
        return $found[1];
    }

    private function locked(callable $do)
    {
        $file = fopen(kept('table.json'), 'c+');
        flock($file, LOCK_EX);
        $rows = json_decode(stream_get_contents($file), true) ?? [];
        $result = $do($rows);
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, json_encode($rows));
        fclose($file);
        return $result;
    }
}

$wpdb = new Database();

require getenv('ENDPOINT');

// The work: a line for each time that it is done.
add_action('ordem/effect', function (string $type, array $data, string $id): void {
    if (($data['key'] ?? '') === 'slow') {
        touch(kept('at-work'));
        for ($waited = 0; !is_file(kept('go-on')) && $waited < 2000; $waited++) {
            usleep(10000);
            clearstatcache();
        }
    }
    if (($data['key'] ?? '') === 'fails' && !is_file(kept('failed'))) {
        touch(kept('failed'));
        throw new Exception('the first time');
    }
    file_put_contents(kept('done'), "$id $type $data[id]\n", FILE_APPEND | LOCK_EX);
}, 10, 3);
add_action('ordem/effect/order.release_picking', function (array $data, string $id): void {
    file_put_contents(kept('released'), "$data[id]\n", FILE_APPEND | LOCK_EX);
}, 10, 2);

do_action('rest_api_init');
if ($_SERVER['REQUEST_URI'] === '/cron') {
    do_action('ordem/forget');
    return;
}
$route = $routes[$_SERVER['REQUEST_URI']] ?? null;
if ($route === null || $route['methods'] !== $_SERVER['REQUEST_METHOD']) {
    http_response_code(404);
    return;
}
$request = new WP_REST_Request();
$headers = array_filter($_SERVER, fn ($name): bool => strncmp((string) $name, 'HTTP_WEBHOOK', 12) === 0, ARRAY_FILTER_USE_KEY);
$seen = json_encode(['headers' => $headers, 'body' => $request->get_body()]);
file_put_contents(kept('requests'), "$seen\n", FILE_APPEND | LOCK_EX);
$allowed = $route['permission_callback']($request);
if ($allowed !== true) {
    http_response_code($allowed->data['status']);
    echo $allowed->message;
    return;
}
$answer = $route['callback']($request);
http_response_code($answer->status);
echo json_encode($answer->data);
