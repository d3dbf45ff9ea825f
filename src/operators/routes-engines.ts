import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { checked, checkedQuery, t } from '../kernel/schema'
import * as words from './schema-engines'
import type { OperatorService } from './service'

type Edge = ReturnType<typeof operatorEdge>

export const engineRoutes = (engines: OperatorService['engines'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/engines' })
    .use(edge)
    .get('', async (context) => ({ engines: await engines.list(toOperatorCall(context)) }), {
      holds: 'facts',
      response: { 200: answer(words.EngineList) },
    })
    .post('', (context) => engines.add(toOperatorCall(context), context.body), {
      body: checked(words.NewEngine),
      response: { 200: answer(words.AddedEngine), ...errors(400, 409) },
    })
    .patch('/:name', (context) => engines.update(toOperatorCall(context), context.params.name, context.body), {
      params: checkedQuery(t.Object({ name: t.String() })),
      body: checked(words.EnginePatch),
      response: { 200: answer(words.AddedEngine), ...errors(400, 404, 409) },
    })
    .delete(
      '/:name',
      ({ query, params, ...context }) => engines.remove(toOperatorCall(context), params.name, query.force === 'true'),
      {
        params: checkedQuery(t.Object({ name: t.String() })),
        query: checkedQuery(t.Object({ force: t.Optional(t.String()) })),
        response: { 200: answer(words.RemovedEngine), ...errors(400, 404, 409) },
      },
    )
    .get('/prices', (context) => engines.prices.list(toOperatorCall(context)), {
      holds: 'facts',
      response: { 200: answer(words.EnginePrices) },
    })
    .put('/prices', (context) => engines.prices.set(toOperatorCall(context), context.body), {
      body: checked(words.NewPrices),
      response: { 200: answer(words.EnginePrices), ...errors(400, 409) },
    })
    .put('/map/:mode', (context) => engines.map(toOperatorCall(context), context.params.mode, context.body.targets), {
      params: checkedQuery(t.Object({ mode: t.String() })),
      body: checked(words.EngineMap),
      response: { 200: answer(words.MappedEngine), ...errors(400, 404, 409) },
    })
    .post('/test', async (context) => ({ tests: await engines.test(toOperatorCall(context), context.query) }), {
      query: checkedQuery(words.EngineTestQuery),
      response: { 200: answer(words.EngineTests), ...errors(404) },
    })
