/**
 * Schema 2: handoffs from inside a transaction of the user's own.
 *
 * `handfast.submit` writes a row of `outbox`, which commits or is rolled back with whatever else the transaction does; nodes pick
 * it up afterwards. The function runs as the schema's owner, so whoever calls it needs no right on any table, and everything it
 * names is named in full under a fixed search path. It checks what does not depend on the relay, so that a mistake is an error of
 * the statement; the rest is judged at the pick-up.
 *
 * Who speaks is not an argument. `outbox_role` says for which agent a role that has logged in may submit; only the schema's owner
 * writes it. `session_user` is who logged in: neither SET ROLE nor a function that runs as another changes it. Roles are kept as
 * `regrole`: a role that is dropped and made again is another one, and a dump names it.
 *
 * No NOTIFY: it would make all transactions that submit wait for each other at their commits. Nodes poll.
 */
export const outbox = `
CREATE TABLE handfast.outbox_role (
  role regrole PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL
);

CREATE TABLE handfast.outbox (
  num bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  agent text COLLATE "C" NOT NULL,
  capability text COLLATE "C",
  input jsonb NOT NULL,
  options jsonb NOT NULL,
  posted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tries integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT '-infinity',
  trouble text                        -- why it could neither be accepted nor become a dead letter; it is left alone
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);
CREATE INDEX outbox_order ON handfast.outbox (agent, (options ->> 'ordering_key'), num) WHERE options ? 'ordering_key';

CREATE FUNCTION handfast.submit(capability text, input jsonb, options jsonb DEFAULT '{}') RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $submit$
DECLARE
  speaker handfast.outbox_role;
  target constant text := coalesce(capability, options ->> 'to');
  of_relay text;
  drawn text;
  made uuid;
BEGIN
  SELECT outbox_role.* INTO speaker FROM handfast.outbox_role JOIN pg_roles ON pg_roles.oid = outbox_role.role
    WHERE pg_roles.rolname = session_user;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'The role % may submit for no agent.', session_user USING ERRCODE = 'insufficient_privilege',
      HINT = format('As the owner of the schema handfast: SELECT handfast.bind_role(%L, ''AGENT'').', session_user);
  END IF;
  IF input IS NULL THEN
    RAISE EXCEPTION 'The input is null.' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'Give JSON; a null inside it is written ''null''::jsonb.';
  END IF;
  IF options IS NULL OR jsonb_typeof(options) <> 'object' THEN
    RAISE EXCEPTION 'The options are no JSON object.' USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Such as ''{"labels": {"order": "7"}}'', or leave them out.';
  END IF;
  IF target IS NULL THEN
    RAISE EXCEPTION 'Neither a capability nor an agent is named.' USING ERRCODE = 'null_value_not_allowed',
      HINT = 'Give a capability, or null and the agent in the options: ''{"to": "AGENT"}''.';
  END IF;
  IF target !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' THEN
    RAISE EXCEPTION 'The name % is none.', quote_literal(left(target, 200)) USING ERRCODE = 'invalid_name',
      HINT = 'Names have 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit.';
  END IF;
  SELECT string_agg(named, ', ') INTO of_relay FROM jsonb_object_keys(options) AS named
    WHERE named IN ('id', 'from', 'capability', 'input', 'text', 'namespace');
  IF of_relay IS NOT NULL THEN
    RAISE EXCEPTION 'The options name %.', of_relay USING ERRCODE = 'invalid_parameter_value',
      HINT = 'Capability and input are arguments of their own; who sends and the id are not for the caller to say.';
  END IF;
  IF octet_length(input::text) > 1000000 THEN
    RAISE EXCEPTION 'The input has % bytes; at most 1000000 are taken.', octet_length(input::text)
      USING ERRCODE = 'program_limit_exceeded', HINT = 'Put large data up as an artifact, and refer to it.';
  END IF;
  IF octet_length(options::text) > 32000 THEN
    RAISE EXCEPTION 'The options have % bytes; at most 32000 are taken.', octet_length(options::text)
      USING ERRCODE = 'program_limit_exceeded', HINT = 'What the work needs goes into the input.';
  END IF;
  -- A UUID of version 7: the time in milliseconds, then chance.
  drawn := replace(gen_random_uuid()::text, '-', '');
  made := lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || '7' || substr(drawn, 14);
  INSERT INTO handfast.outbox (namespace, id, agent, capability, input, options)
    VALUES (speaker.namespace, made, speaker.agent, capability, input, options);
  RETURN made;
END $submit$;
COMMENT ON FUNCTION handfast.submit IS
  'Hands work over when this transaction commits. Answers the id of the handoff. See docs/migrate.md.';

CREATE FUNCTION handfast.bind_role(role name, agent text) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $bind$
DECLARE
  named constant regrole := (SELECT oid FROM pg_roles WHERE rolname = role);
BEGIN
  IF named IS NULL THEN
    RAISE EXCEPTION 'There is no role %.', quote_literal(role) USING ERRCODE = 'undefined_object';
  END IF;
  IF agent IS NULL OR agent !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' OR agent IN ('operator', 'relay') THEN
    RAISE EXCEPTION 'The name % is no agent''s.', quote_nullable(agent) USING ERRCODE = 'invalid_name',
      HINT = 'Names have 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit.';
  END IF;
  INSERT INTO handfast.outbox_role AS bound (role, namespace, agent) VALUES (named, 'default', bind_role.agent)
    ON CONFLICT ON CONSTRAINT outbox_role_pkey DO UPDATE SET agent = excluded.agent;
  EXECUTE format('GRANT USAGE ON SCHEMA handfast TO %I', role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION handfast.submit(text, jsonb, jsonb) TO %I', role);
END $bind$;
COMMENT ON FUNCTION handfast.bind_role IS 'Lets a role that logs in submit in the name of one agent, and of no other.';

CREATE FUNCTION handfast.unbind_role(role name) RETURNS boolean
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $unbind$
BEGIN
  DELETE FROM handfast.outbox_role USING pg_roles
    WHERE pg_roles.oid = outbox_role.role AND pg_roles.rolname = unbind_role.role;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  EXECUTE format('REVOKE EXECUTE ON FUNCTION handfast.submit(text, jsonb, jsonb) FROM %I', role);
  EXECUTE format('REVOKE USAGE ON SCHEMA handfast FROM %I', role);
  RETURN true;
END $unbind$;
COMMENT ON FUNCTION handfast.unbind_role IS 'Takes it back. What the role has committed before is still picked up.';

REVOKE ALL ON FUNCTION handfast.submit(text, jsonb, jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION handfast.bind_role(name, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION handfast.unbind_role(name) FROM PUBLIC
`;
