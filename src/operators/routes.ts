import { Elysia } from 'elysia'
import { readJson } from '../http/body'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import { ApiKey, ApiKeyWithSecret, KeyPage, KeyRotation, RotatedKey } from '../keys/schema'
import * as words from './schema'
import type { OperatorService } from './service'

const ByRef = checkedQuery(t.Object({ ref: t.String() }))

type Edge = ReturnType<typeof operatorEdge>
type Exposition = { contentType: string; metrics(): Promise<string> }

/** The operator plane, `/ops/v1`, and what Prometheus reads, `/metrics` (design 7). */
export const operatorRoutes = (operators: OperatorService, edge: Edge, exposition: Exposition) =>
  new Elysia()
    .use(edge)
    .onParse(({ request }) => readJson(request))
    .get('/metrics', async ({ set }) => {
      set.headers['content-type'] = exposition.contentType
      return await exposition.metrics()
    })
    .use(keyRoutes(operators.keys, edge))
    .use(creditRoutes(operators.credits, edge))
    .use(engineRoutes(operators.engines, edge))
    .use(serverRoutes(operators, edge))

const keyRoutes = (keys: OperatorService['keys'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/keys' })
    .use(edge)
    .get(
      '',
      async (context) => {
        const page = await keys.list(toOperatorCall(context), context.query)
        return { keys: page.items, ...pageFields(page) }
      },
      { query: checkedQuery(words.OperatorKeyQuery), response: { 200: answer(KeyPage), ...errors(400, 404) } },
    )
    .post('', (context) => keys.create(toOperatorCall(context), context.body), {
      body: checked(words.NewOperatorKey),
      response: { 200: answer(ApiKeyWithSecret), ...errors(400, 404, 409) },
    })
    .get('/:ref', (context) => keys.get(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(ApiKey), ...errors(404, 409) },
    })
    .put('/:ref', (context) => keys.update(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(words.OperatorKeyPatch),
      response: { 200: answer(ApiKey), ...errors(400, 404, 409) },
    })
    .post('/:ref/rotate', (context) => keys.rotate(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(KeyRotation),
      response: { 200: answer(RotatedKey), ...errors(400, 404, 409) },
    })
    .delete('/:ref', (context) => keys.revoke(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(ApiKey), ...errors(404, 409) },
    })

const creditRoutes = (credits: OperatorService['credits'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/credits' })
    .use(edge)
    .get('', (context) => credits.balance(toOperatorCall(context), context.query.owner), {
      query: checkedQuery(words.OwnerQuery),
      response: { 200: answer(words.Balance), ...errors(404, 409) },
    })
    .post('', (context) => credits.grant(toOperatorCall(context), context.body), {
      body: checked(words.NewGrant),
      response: { 200: answer(words.Grant), ...errors(400, 404, 409) },
    })

const engineRoutes = (engines: OperatorService['engines'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/engines' })
    .use(edge)
    .get('', async (context) => ({ engines: await engines.list(toOperatorCall(context)) }), {
      response: { 200: answer(words.EngineList) },
    })
    .post('', (context) => engines.add(toOperatorCall(context), context.body), {
      body: checked(words.NewEngine),
      response: { 200: answer(words.AddedEngine), ...errors(400, 409) },
    })
    .post(
      '/test',
      async (context) => ({ tests: await engines.test(toOperatorCall(context), context.query.upstream) }),
      { query: checkedQuery(words.EngineTestQuery), response: { 200: answer(words.EngineTests), ...errors(404) } },
    )

const serverRoutes = (operators: OperatorService, edge: Edge) =>
  new Elysia({ prefix: '/ops/v1' })
    .use(edge)
    .get('/status', (context) => operators.status(toOperatorCall(context)), { response: { 200: answer(words.Status) } })
    .post('/verify', (context) => operators.verify(toOperatorCall(context)), {
      response: { 200: answer(words.Verification) },
    })
    .post('/backups', (context) => operators.backup(toOperatorCall(context), context.body), {
      body: checked(words.NewBackup),
      response: { 200: answer(words.Backup), ...errors(400, 409) },
    })

export type OperatorApi = ReturnType<typeof operatorRoutes>
