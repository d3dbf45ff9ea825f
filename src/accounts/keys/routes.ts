import type { Guard } from '../../http/guard'
import { operator, tenant, tenantRoutes, verb } from '../../http/verbs'
import { PageQuery, pageAs } from '../../kernel/page'
import { t } from '../../kernel/schema'
import * as words from './schema'
import type { KeyService } from './service'

/** Fields of a key that hold the owner's own texts and rules for the engine. */
const KEY_WORDS = ['brand_soul', 'routing_rules'] as const

/** `/keys` (docs/api.md 20), for tenants and operators. Operators may also name a key by prefix or name. */
export const keyVerbs = (keys: KeyService) => {
  const change = { body: words.KeyPatch, reply: words.ApiKey } as const
  return [
    verb.post(
      '/keys',
      {
        body: words.NewKey,
        reply: words.ApiKeyWithSecret,
        creates: true,
        errors: [404, 409],
        operators: { body: words.NewOperatorKey },
        summary: 'Create a key; the full key is in this answer only',
        description:
          'Sent with a key that has restrictions of its own (a rate limit, a cap, an expiry, allowed origins, a guardrail policy), this answers 403, because a new key would not have them.',
      },
      (call, { body }) => keys.create(call, body),
    ),
    verb.get(
      '/keys',
      {
        query: PageQuery,
        reply: words.KeyPage,
        holds: KEY_WORDS,
        operators: { query: words.OperatorKeyQuery },
        summary: 'List the keys you may manage, newest first',
      },
      async (call, { query }) => pageAs('keys', await keys.list(call, query)),
    ),
    verb.get(
      '/keys/:id',
      {
        reply: words.ApiKey,
        holds: KEY_WORDS,
        operators: { path: '/keys/:ref' },
        summary: 'Read one key',
      },
      (call, { id }) => keys.get(call, id),
    ),
    tenant.put(
      '/keys/:id',
      { ...change, summary: 'Change a key; omitted members stay, null clears' },
      (call, { id, body }) => keys.update(call, id, body),
    ),
    tenant.patch('/keys/:id', { ...change, summary: 'Change a key, the same as PUT' }, (call, { id, body }) =>
      keys.update(call, id, body),
    ),
    verb.post(
      '/keys/:id/rotate',
      {
        body: t.Optional(words.KeyRotation),
        reply: words.RotatedKey,
        idempotent: true,
        errors: [404, 409],
        operators: { path: '/keys/:ref/rotate', body: words.KeyRotation },
        summary: 'Rotate a key: it gets a new secret, and the old one works for the grace period',
      },
      (call, { id, body }) => keys.rotate(call, id, body),
    ),
    verb.delete(
      '/keys/:id',
      {
        reply: words.KeyRevoked,
        operators: { path: '/keys/:ref', reply: words.ApiKey },
        summary: 'Revoke a key with immediate effect',
      },
      async (call, { id }) => {
        const key = await keys.revoke(call, id)
        return call.caller.type === 'operator' ? key : { revoked: true as const, id: key.id }
      },
    ),
    operator.post(
      '/keys/check',
      { role: 'any', holds: KEY_WORDS, body: words.KeyCheck, reply: words.CheckedKey },
      (call, { body }) => keys.check(call, body.key),
    ),
  ] as const
}

export const keyRoutes = (keys: KeyService, guard: Guard) =>
  tenantRoutes(keyVerbs(keys), guard, { scope: 'billing', tag: 'API keys' })
