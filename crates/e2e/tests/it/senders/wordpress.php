<?php
// Enough of WordPress for the plugin of docs/WORDPRESS.md: its code is the first argument, and standard input has what
// came in, a list of {"headers", "body"}. Prints for each whether its signature holds, the answer, and the rows then.

define( 'ORDEM_SECRETS', json_decode( getenv( 'SITE_SECRETS' ) ) );

class WP_REST_Request {
    public function __construct( private array $headers, private string $body ) {}
    public function get_header( $name ) { return $this->headers[ strtolower( $name ) ] ?? null; }
    public function get_body() { return $this->body; }
}

class WP_REST_Response {
    public function __construct( public $data, public int $status ) {}
}

class Database {
    public string $prefix = 'wp_';
    public array $rows = array();
    public function prepare( $sql, ...$values ) { return array( $sql, $values ); }
    public function query( $prepared ) {
        list( $sql, $values ) = $prepared;
        if ( substr_count( $sql, '%' ) !== count( $values ) || ! str_contains( $sql, 'INSERT IGNORE INTO wp_site_effects' ) ) {
            throw new Exception( $sql );
        }
        $is_new = ! isset( $this->rows[ $values[0] ] );
        $this->rows += array( $values[0] => $values );
        return $is_new ? 1 : 0;
    }
}

$routes = $scheduled = array();
$wpdb   = new Database();
function add_action( $hook, $then ) { if ( 'rest_api_init' === $hook ) { $then(); } }
function register_rest_route( $space, $path, $route ) { global $routes; $routes[ "/$space$path" ] = $route; }
function current_time( $kind, $utc ) { return gmdate( 'Y-m-d H:i:s' ); }
function wp_schedule_single_event( $at, $hook ) { global $scheduled; $scheduled[] = $hook; }

require $argv[1];

$route   = $routes['/ordem/v1/effects'];
$answers = array();
foreach ( json_decode( file_get_contents( 'php://stdin' ), true ) as $sent ) {
    $request   = new WP_REST_Request( $sent['headers'], $sent['body'] );
    $holds     = $route['permission_callback']( $request );
    $status    = $holds ? $route['callback']( $request )->status : 401;
    $answers[] = array( $status, count( $wpdb->rows ), count( $scheduled ) );
}
echo json_encode( $answers );
