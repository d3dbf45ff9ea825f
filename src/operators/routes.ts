import { Elysia } from 'elysia'
import { ApiKey, OperatorKeyPatch } from '../accounts/keys/schema'
import { OrgDetail } from '../accounts/orgs/schema'
import { readJson } from '../http/body'
import { answer, errors } from '../http/envelope'
import { admitOperator, type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import { IncreaseQuery, RateLimits } from '../limits/schema'
import { auditRoutes } from './routes-audit'
import { cacheRoutes } from './routes-cache'
import { creditRoutes } from './routes-credits'
import { engineRoutes } from './routes-engines'
import { installRoutes, skillRoutes } from './routes-skills'
import { streamRoutes } from './routes-stream'
import { submissionRoutes } from './routes-submissions'
import { usageRoutes } from './routes-usage'
import * as words from './schema'
import * as backups from './schema-backup'
import { RequestTrace, TraceQuery } from './schema-trace'
import type { OperatorService } from './service'

const ByRef = checkedQuery(t.Object({ ref: t.String() }))

/** What an owner tells the engine by a key, and what they ask a higher tier for. */
const KEY_WORDS = ['brand_soul', 'routing_rules']
const REQUEST_WORDS = ['use_case', 'expected_volume', 'reason']

type Edge = ReturnType<typeof operatorEdge>
type Exposition = { contentType: string; metrics(): Promise<string> }

/** The operator API, `/ops/v1`, and `/metrics` for Prometheus (design 7). */
export const operatorRoutes = (operators: OperatorService, edge: Edge, exposition: Exposition) =>
  // Any host will do: over a socket it is only a word, and the usual tools make up a short one.
  new Elysia({ handler: { standardHostname: false } })
    .use(edge)
    .onParse((context) => {
      admitOperator(context as never)
      return readJson(context.request)
    })
    .onTransform((context) => admitOperator(context as never))
    .get(
      '/metrics',
      async ({ set }) => {
        set.headers['content-type'] = exposition.contentType
        return await exposition.metrics()
      },
      { holds: 'facts' },
    )
    .use(limitRoutes(operators.limits, edge))
    .use(accessRoutes(operators.access, edge))
    .use(creditRoutes(operators, edge))
    .use(cacheRoutes(operators.cache, edge))
    .use(usageRoutes(operators.usage, edge))
    .use(auditRoutes(operators.audit, edge))
    .use(skillRoutes(operators.skills, edge))
    .use(installRoutes(operators.skills, edge))
    .use(submissionRoutes(operators.submissions, edge))
    .use(engineRoutes(operators.engines, edge))
    .use(streamRoutes(operators.stream, edge))
    .use(serverRoutes(operators, edge))

const limitRoutes = (limits: OperatorService['limits'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1' })
    .use(edge)
    .get('/tiers', (context) => ({ tiers: limits.tierTable(toOperatorCall(context)) }), {
      holds: 'facts',
      response: { 200: answer(words.TierList) },
    })
    .put('/tiers/:ref', (context) => limits.setTier(toOperatorCall(context), context.params.ref, context.body.tier), {
      role: 'billing',
      holds: KEY_WORDS,
      params: ByRef,
      body: checked(words.NewTier),
      response: { 200: answer(ApiKey), ...errors(400, 404, 409) },
    })
    .put('/keys/:ref', (context) => limits.updateKey(toOperatorCall(context), context.params.ref, context.body), {
      params: ByRef,
      body: checked(OperatorKeyPatch),
      response: { 200: answer(ApiKey), ...errors(400, 404, 409) },
    })
    .get('/keys/:ref/limits', (context) => limits.windowsOf(toOperatorCall(context), context.params.ref), {
      holds: REQUEST_WORDS,
      role: 'billing',
      params: ByRef,
      response: { 200: answer(RateLimits), ...errors(404, 409) },
    })
    .get(
      '/limits',
      async (context) => {
        const page = await limits.list(toOperatorCall(context), context.query)
        return { requests: page.items, ...pageFields(page) }
      },
      {
        holds: REQUEST_WORDS,
        role: 'billing',
        query: checkedQuery(IncreaseQuery),
        response: { 200: answer(words.WeighedIncreases), ...errors(400) },
      },
    )
    .get('/limits/:ref', (context) => limits.get(toOperatorCall(context), context.params.ref), {
      holds: REQUEST_WORDS,
      role: 'billing',
      params: ByRef,
      response: { 200: answer(words.WeighedIncrease), ...errors(404) },
    })
    .post('/limits/:ref', (context) => limits.decide(toOperatorCall(context), context.params.ref, context.body), {
      role: 'billing',
      params: ByRef,
      body: checked(words.LimitDecision),
      response: { 200: answer(words.WeighedIncrease), ...errors(400, 404, 409) },
    })

const accessRoutes = (access: OperatorService['access'], edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/operators' })
    .use(edge)
    .get('', async (context) => ({ operators: await access.list(toOperatorCall(context)) }), {
      holds: 'facts',
      role: 'none',
      response: { 200: answer(words.OperatorList) },
    })
    .post('', (context) => access.add(toOperatorCall(context), context.body), {
      body: checked(words.NewOperator),
      response: { 200: answer(words.OperatorWithSecret), ...errors(400, 409) },
    })
    .post('/:ref/rotate', (context) => access.rotate(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(words.OperatorWithSecret), ...errors(404, 409) },
    })
    .delete('/:ref', (context) => access.revoke(toOperatorCall(context), context.params.ref), {
      params: ByRef,
      response: { 200: answer(words.Operator), ...errors(404) },
    })

const serverRoutes = (operators: OperatorService, edge: Edge) =>
  new Elysia({ prefix: '/ops/v1' })
    .use(edge)
    .get('/status', (context) => operators.status(toOperatorCall(context)), {
      holds: 'facts',
      response: { 200: answer(words.Status) },
    })
    .get('/orgs/:ref', (context) => operators.orgDetail(toOperatorCall(context), context.params.ref), {
      holds: ['plan_note'],
      role: 'billing',
      params: ByRef,
      response: { 200: answer(OrgDetail), ...errors(404, 409) },
    })
    .post('/verify', (context) => operators.verify(toOperatorCall(context)), {
      role: 'support',
      response: { 200: answer(words.Verification) },
    })
    .get('/requests/:ref', (context) => operators.trace(toOperatorCall(context), context.params.ref, context.query), {
      holds: ['note'],
      params: ByRef,
      query: checkedQuery(TraceQuery),
      response: { 200: answer(RequestTrace), ...errors(400, 404) },
    })
    .get('/backups', (context) => operators.backups.list(toOperatorCall(context)), {
      holds: 'facts',
      response: { 200: answer(backups.BackupList) },
    })
    .post('/backups/prune', (context) => operators.backups.prune(toOperatorCall(context), context.body), {
      body: checked(backups.BackupPruning),
      response: { 200: answer(backups.PrunedBackups), ...errors(400) },
    })
    .post('/backups', (context) => operators.backup(toOperatorCall(context), context.body), {
      body: checked(backups.NewBackup),
      response: { 200: answer(backups.Backup), ...errors(400, 409) },
    })
