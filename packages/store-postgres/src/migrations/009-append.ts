/**
 * Schema 9: the end of the log in one call, so that a whole commit can be one statement. It takes the lock first; what comes after is a
 * statement with a snapshot of its own (the function is volatile), which sees the head as the last holder of the lock left it.
 *
 * `ready` is what must have been done before: a caller puts there what depends on everything else that its statement writes.
 *
 * `keeper` of what is ready: the life of the node whose workers get it first; null: nobody's do.
 */
export const append = `
ALTER TABLE handfast.ready ADD COLUMN keeper text COLLATE "C";

CREATE FUNCTION handfast.append(ready integer, namespaces text[], handoffs text[], correlation_ids text[], ats bigint[],
  agents jsonb[], jsons text[], resumed_ats bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER AS $append$
DECLARE
  head bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1751215716, 2);
  SELECT greatest(log.floor, coalesce((SELECT event.pos FROM handfast.event ORDER BY event.pos DESC LIMIT 1), 0))
    INTO head FROM handfast.log;
  INSERT INTO handfast.event (pos, namespace, handoff, correlation_id, at, agents, json, resumed_at)
    SELECT head + place, given.namespace, given.handoff, given.correlation_id, given.at, given.agents, given.json, given.resumed_at
    FROM unnest(namespaces, handoffs, correlation_ids, ats, append.agents, jsons, resumed_ats)
      WITH ORDINALITY AS given (namespace, handoff, correlation_id, at, agents, json, resumed_at, place);
  RETURN head + 1;
END $append$;
REVOKE ALL ON FUNCTION handfast.append FROM PUBLIC;
COMMENT ON FUNCTION handfast.append IS 'For relays: writes the end of the log, and answers the first position that it gave.'
`;
