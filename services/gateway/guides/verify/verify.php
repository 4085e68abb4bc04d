<?php
/** $body as it came: file_get_contents('php://input'). True where the endpoint's secret signed it, within five minutes. */
function verify(string $secret, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (!preg_match('/^\d+$/', $timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $signatures) as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}
