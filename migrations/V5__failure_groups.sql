-- Failure groups: effects that failed for one cause are one thing to an operator, however many they are.
-- Computed from what is stored anyway, so that nothing more is written when an effect fails.

-- The cause without what differs from one effect to the next: ids, numbers, times, addresses and quoted texts. Numbers
-- that say how something was answered (answer 503, status 404, SQLSTATE 23505) are the cause and stay.
create function ordem_engine.failure_cause(error text) returns text
    language sql immutable parallel safe
    return regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        left(coalesce(error, ''), 1000),
        -- Quotes that stand around something: the apostrophe of "the destination's" does not.
        '"[^"]*"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '<text>', 'g'),
        '[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}', '<id>', 'g'),
        '\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?', '<time>', 'g'),
        '[^\s<>]+@[^\s<>]+\.[^\s<>]+', '<address>', 'g'),
        '(?<![0-9a-zA-Z])(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}(?![0-9a-zA-Z])', '<id>', 'g'),
        '(?<!(answer|answered|status|code|error|sqlstate|SQLSTATE)[ :=(]{1,2})(?<!\d)\d+', '<n>', 'g');

-- Eight hexadecimal digits: the name of the group of failures with this cause at this destination.
create function ordem_engine.failure_group(destination text, error text) returns text
    language sql immutable parallel safe
    return left(encode(sha256(convert_to(destination || E'\x1f' || ordem_engine.failure_cause(error), 'UTF8')), 'hex'), 8);
