import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall } from '../../http/guard'
import { pageFields } from '../../kernel/page'
import { checked, checkedPath, checkedQuery, t } from '../../kernel/schema'
import {
  ApiKey,
  ApiKeyWithSecret,
  KeyPage,
  KeyPatch,
  KeyQuery,
  KeyRevoked,
  KeyRotation,
  NewKey,
  RotatedKey,
} from './schema'
import type { KeyService } from './service'

const ById = checkedPath(t.Object({ id: t.String() }))

/** `/keys` (contract 20). */
export const keyRoutes = (keys: KeyService, guard: Guard) =>
  new Elysia({ prefix: '/keys', tags: ['API keys'] })
    .use(guard)
    .post('', async (context) => context.status(201, await keys.create(toCall(context), context.body)), {
      scope: 'billing',
      idempotent: true,
      body: checked(NewKey),
      response: { 201: answer(ApiKeyWithSecret), ...errors(400, 401, 403, 404, 409, 429) },
      detail: {
        summary: 'Create a key; the full key is in this answer only',
        description:
          'Sent with a key that has restrictions of its own (a rate limit, a cap, an expiry, allowed origins, a guardrail policy), this answers 403, because a new key would not have them.',
      },
    })
    .get(
      '',
      async (context) => {
        const page = await keys.list(toCall(context), context.query)
        return { keys: page.items, ...pageFields(page) }
      },
      {
        scope: 'billing',
        query: checkedQuery(KeyQuery),
        response: { 200: answer(KeyPage), ...errors(400, 401, 403, 429) },
        detail: { summary: 'List the keys you may manage, newest first' },
      },
    )
    .get('/:id', (context) => keys.get(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(ApiKey), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Read one key' },
    })
    .put('/:id', (context) => keys.update(toCall(context), context.params.id, context.body), {
      ...changing,
      detail: { summary: 'Change a key; omitted members stay, null clears' },
    })
    .patch('/:id', (context) => keys.update(toCall(context), context.params.id, context.body), {
      ...changing,
      detail: { summary: 'Change a key, the same as PUT' },
    })
    .post('/:id/rotate', (context) => keys.rotate(toCall(context), context.params.id, context.body ?? {}), {
      scope: 'billing',
      idempotent: true,
      params: ById,
      body: checked(t.Optional(KeyRotation)),
      response: { 200: answer(RotatedKey), ...errors(400, 401, 403, 404, 409, 429) },
      detail: { summary: 'Rotate a key: it gets a new secret, and the old one works for the grace period' },
    })
    .delete('/:id', (context) => keys.revoke(toCall(context), context.params.id), {
      scope: 'billing',
      params: ById,
      response: { 200: answer(KeyRevoked), ...errors(401, 403, 404, 429) },
      detail: { summary: 'Revoke a key with immediate effect' },
    })

const changing = {
  scope: 'billing',
  params: ById,
  body: checked(KeyPatch),
  response: { 200: answer(ApiKey), ...errors(400, 401, 403, 404, 429) },
} as const
