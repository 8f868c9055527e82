<?php
/**
 * Plugin Name: Ordem endpoint
 * Description: Takes Ordem's effects: signed by Standard Webhooks, each one done once.
 * Requires PHP: 7.4
 *
 * Put this file into wp-content/mu-plugins, and into wp-config.php:
 *
 *     define('ORDEM_SECRETS', ['whsec_…']);          // several while you change them
 *
 * Ordem posts to https://YOUR.SITE/wp-json/ordem/v1/effects. Your own code does the work:
 *
 *     add_action('ordem/effect/order.release_picking', function (array $data, string $id) { … }, 10, 2);
 *
 * What an answer makes Ordem do: 2xx delivered; 409 try again later, another request is at it; 401 and 5xx try again later;
 * 400 give up, for the bytes never change. See docs/WORDPRESS.md.
 */

declare(strict_types=1);

namespace Ordem\Endpoint;

/** Seconds that the signed time may differ from now, either way. */
const TOLERANCE = 300;
/** Seconds after which a call that neither ended nor failed is taken over: its process is gone. */
const LEASE = 300;
/** Days for which an effect that was done is remembered. Longer than Ordem may want to send it again. */
const REMEMBERED_DAYS = 180;

\add_action('rest_api_init', function (): void {
    \register_rest_route('ordem/v1', '/effects', [
        'methods' => 'POST',
        'callback' => __NAMESPACE__ . '\\take',
        'permission_callback' => __NAMESPACE__ . '\\is_signed',
    ]);
});

\add_action('ordem/forget', __NAMESPACE__ . '\\forget');

/** Whether Ordem sent this request, just now: the answer is 401 where it did not. */
function is_signed(\WP_REST_Request $request)
{
    $id = (string) $request->get_header('webhook-id');
    $time = (string) $request->get_header('webhook-timestamp');
    $signatures = (string) $request->get_header('webhook-signature');
    if (!\preg_match('/\A[A-Za-z0-9_-]{1,64}\z/', $id) || !\preg_match('/\A[0-9]{1,12}\z/', $time)) {
        return refused('webhook-id or webhook-timestamp is missing or malformed');
    }
    if (\abs(\time() - (int) $time) > TOLERANCE) {
        return refused('webhook-timestamp is too old or too far ahead: compare the clocks');
    }
    // The bytes as they came: parsing and writing them again would change them.
    $signed = $id . '.' . $time . '.' . $request->get_body();
    $holds = false;
    foreach (secrets() as $key) {
        $expected = \base64_encode(\hash_hmac('sha256', $signed, $key, true));
        foreach (\array_slice(\explode(' ', $signatures), 0, 16) as $signature) {
            // Every pair is compared, each in constant time: how long it takes tells nothing.
            $holds = \hash_equals('v1,' . $expected, $signature) || $holds;
        }
    }
    return $holds ? true : refused('no signature holds for any of the secrets');
}

function refused(string $why): \WP_Error
{
    return new \WP_Error('ordem_refused', $why, ['status' => 401]);
}

/** The keys of ORDEM_SECRETS: base64 after whsec_, any other text as it stands. */
function secrets(): array
{
    $keys = [];
    foreach ((array) (\defined('ORDEM_SECRETS') ? \ORDEM_SECRETS : []) as $secret) {
        $secret = \trim((string) $secret);
        $key = \strncmp($secret, 'whsec_', 6) === 0 ? \base64_decode(\substr($secret, 6), true) : $secret;
        // An empty key would let anybody sign.
        if (\is_string($key) && $key !== '') {
            $keys[] = $key;
        }
    }
    return $keys;
}

/** Does what the effect asks for, once for each webhook-id, which is the same at every attempt. */
function take(\WP_REST_Request $request): \WP_REST_Response
{
    $message = \json_decode($request->get_body(), true, 512, JSON_BIGINT_AS_STRING);
    if (!\is_array($message) || !\is_string($message['type'] ?? null) || !\is_array($message['data'] ?? null)) {
        return new \WP_REST_Response(['error' => 'the body is no message with type and data'], 400);
    }
    $id = (string) $request->get_header('webhook-id');
    $now = \time();
    switch (begin($id, $now)) {
        case 'done':
            return new \WP_REST_Response(['repeated' => true], 200);
        case 'busy':
            return new \WP_REST_Response(['error' => 'another request with this webhook-id is at it'], 409);
        case 'failed':
            return new \WP_REST_Response(['error' => 'the database did not take the webhook-id'], 503);
    }
    try {
        \do_action('ordem/effect', $message['type'], $message['data'], $id);
        \do_action('ordem/effect/' . $message['type'], $message['data'], $id);
    } catch (\Throwable $failure) {
        give_back($id, $now);
        \error_log('ordem: ' . $message['type'] . ' ' . $id . ': ' . $failure->getMessage());
        return new \WP_REST_Response(['error' => 'it failed, see the log of PHP'], 500);
    }
    finish($id);
    return new \WP_REST_Response(['done' => true], 200);
}

/** Claims the id: 'ours', 'done' before, 'busy' elsewhere, or 'failed'. */
function begin(string $id, int $now): string
{
    global $wpdb;
    $table = table();
    $insert = "INSERT IGNORE INTO $table (webhook_id, started_at, done_at) VALUES (%s, %d, 0)";
    $inserted = $wpdb->query($wpdb->prepare($insert, $id, $now));
    if ($inserted === false) {
        return 'failed';
    }
    if ($inserted === 1) {
        return 'ours';
    }
    $row = $wpdb->get_row($wpdb->prepare("SELECT started_at, done_at FROM $table WHERE webhook_id = %s", $id));
    if ($row === null) {
        return 'busy'; // given back just now: the next attempt finds it free
    }
    if ((int) $row->done_at > 0) {
        return 'done';
    }
    if ((int) $row->started_at > $now - LEASE) {
        return 'busy';
    }
    $take_over = "UPDATE $table SET started_at = %d WHERE webhook_id = %s AND started_at = %d AND done_at = 0";
    return $wpdb->query($wpdb->prepare($take_over, $now, $id, (int) $row->started_at)) === 1 ? 'ours' : 'busy';
}

function finish(string $id): void
{
    global $wpdb;
    $done = 'UPDATE ' . table() . ' SET done_at = %d WHERE webhook_id = %s';
    $wpdb->query($wpdb->prepare($done, \time(), $id));
}

/** It failed and may be tried again at once; unless it took so long that another request has taken it over. */
function give_back(string $id, int $started_at): void
{
    global $wpdb;
    $free = 'DELETE FROM ' . table() . ' WHERE webhook_id = %s AND done_at = 0 AND started_at = %d';
    $wpdb->query($wpdb->prepare($free, $id, $started_at));
}

/** Forgets what was done long ago; once a day. */
function forget(): void
{
    global $wpdb;
    $old = 'DELETE FROM ' . table() . ' WHERE done_at > 0 AND done_at < %d';
    $wpdb->query($wpdb->prepare($old, \time() - REMEMBERED_DAYS * 86400));
}

/** The table's name; the first call makes the table and the daily appointment. */
function table(): string
{
    global $wpdb;
    $table = $wpdb->prefix . 'ordem_effects';
    if (\get_option('ordem_effects_table') !== '1') {
        $made = $wpdb->query("CREATE TABLE IF NOT EXISTS $table (
            webhook_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
            started_at BIGINT NOT NULL,
            done_at BIGINT NOT NULL,
            KEY done_at (done_at)
        ) {$wpdb->get_charset_collate()}");
        if ($made !== false) {
            \update_option('ordem_effects_table', '1');
        }
    }
    if (!\wp_next_scheduled('ordem/forget')) {
        \wp_schedule_event(\time() + 3600, 'daily', 'ordem/forget');
    }
    return $table;
}
