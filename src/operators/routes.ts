import { Elysia } from 'elysia'
import { readJson } from '../http/body'
import { admitOperator, type OperatorEdge } from '../http/operator-edge'
import { operator, operatorRoutes } from '../http/verbs'
import { t } from '../kernel/schema'
import { DoctorReport } from './doctor'
import { accountVerbs } from './routes-accounts'
import { skillVerbs } from './routes-skills'
import * as words from './schema'
import * as stored from './schema-backup'
import * as engines from './schema-engines'
import { Snapshots, StreamQuery } from './schema-stream'
import type { OperatorService } from './service'
import { Status } from './status-schema'

/** Every setting. For a secret, only whether it is set. */
const Configuration = t.Object({
  settings: t.Array(
    t.Object({
      ...{ name: t.String(), value: t.String(), origin: t.String(), env: t.String() },
      ...{ default: t.String(), about: t.String() },
    }),
  ),
})

const FACTS = { holds: 'facts' } as const

type Exposition = { contentType: string; metrics(): Promise<string> }

/** The operator API, `/ops/v1`, and `/metrics` for Prometheus (docs/design.md 7). */
export const ownRoutes = (operators: OperatorService, edge: OperatorEdge, exposition: Exposition) =>
  // Accepts any Host header, because over a socket it has no meaning and common tools make up a short one.
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
    .use(operatorRoutes(accountVerbs(operators), edge))
    .use(operatorRoutes(skillVerbs(operators), edge))
    .use(operatorRoutes(serverVerbs(operators), edge))

const serverVerbs = ({ access, cache, stream, backups, ...operators }: OperatorService) =>
  [
    operator.get('/operators', { ...FACTS, role: 'none', reply: words.OperatorList }, async (call) => ({
      operators: await access.list(call),
    })),
    operator.post('/operators', { body: words.NewOperator, reply: words.OperatorWithSecret }, (call, { body }) =>
      access.add(call, body),
    ),
    operator.post('/operators/:ref/rotate', { reply: words.OperatorWithSecret }, (call, { id }) =>
      access.rotate(call, id),
    ),
    operator.delete('/operators/:ref', { reply: words.Operator }, (call, { id }) => access.revoke(call, id)),
    operator.get('/cache', { ...FACTS, reply: words.CacheStats }, (call) => cache.stats(call)),
    operator.post(
      '/cache/find',
      { role: 'any', body: words.CacheQuestion, reply: words.CacheFinding },
      (call, { body }) => cache.find(call, body),
    ),
    operator.post('/cache/purge', { body: words.CachePurge, reply: words.CachePurged }, (call, { body }) =>
      cache.purge(call, body),
    ),
    operator.get('/engines', { ...FACTS, reply: engines.EngineList }, async (call) => ({
      engines: await operators.engines.list(call),
    })),
    operator.get(
      '/engines/:name/health',
      { ...FACTS, query: engines.EngineHealthQuery, reply: engines.EngineHealth },
      (call, { ids, query }) => operators.engines.health(call, ids.name!, query.window),
    ),
    operator.get('/doctor', { ...FACTS, reply: DoctorReport }, (call) => operators.doctor(call)),
    operator.post('/engines', { body: engines.NewEngine, reply: engines.AddedEngine }, (call, { body }) =>
      operators.engines.add(call, body),
    ),
    operator.patch('/engines/:name', { body: engines.EnginePatch, reply: engines.AddedEngine }, (call, { ids, body }) =>
      operators.engines.update(call, ids.name!, body),
    ),
    operator.delete(
      '/engines/:name',
      { query: t.Object({ force: t.Optional(t.String()) }), reply: engines.RemovedEngine },
      (call, { ids, query }) => operators.engines.remove(call, ids.name!, query.force === 'true'),
    ),
    operator.get('/engines/prices', { ...FACTS, reply: engines.EnginePrices }, (call) =>
      operators.engines.prices.list(call),
    ),
    operator.put('/engines/prices', { body: engines.NewPrices, reply: engines.EnginePrices }, (call, { body }) =>
      operators.engines.prices.set(call, body),
    ),
    operator.put(
      '/engines/map/:mode',
      { body: engines.EngineMap, reply: engines.MappedEngine },
      (call, { ids, body }) => operators.engines.map(call, ids.mode!, body.targets),
    ),
    operator.get('/engines/aliases', { ...FACTS, reply: engines.EngineAliases }, async (call) => ({
      aliases: await operators.engines.aliases.list(call),
    })),
    operator.put('/engines/aliases', { body: engines.NewEngineAlias, reply: engines.EngineAlias }, (call, { body }) =>
      operators.engines.aliases.set(call, body),
    ),
    operator.delete('/engines/aliases/:name', { reply: engines.RemovedEngine }, (call, { ids }) =>
      operators.engines.aliases.remove(call, ids.name!),
    ),
    operator.post('/engines/embed/accept', { reply: engines.AcceptedVectors }, (call) =>
      operators.engines.acceptVectors(call),
    ),
    operator.post(
      '/engines/test',
      { query: engines.EngineTestQuery, reply: engines.EngineTests },
      async (call, { query }) => ({ tests: await operators.engines.test(call, query) }),
    ),
    operator.get('/stream', { ...FACTS, query: StreamQuery, reply: t.String() }, (call, { query }) =>
      stream.open(call, query),
    ),
    operator.get('/snapshot', { ...FACTS, query: StreamQuery, reply: Snapshots }, (call, { query }) =>
      stream.snapshot(call, query),
    ),
    operator.get('/status', { ...FACTS, reply: Status }, (call) => operators.status(call)),
    operator.get('/config', { ...FACTS, reply: Configuration }, async () => ({
      settings: operators.explained(),
    })),
    operator.get('/nodes', { ...FACTS, reply: words.NodeList }, async () => ({ nodes: await operators.nodes.list() })),
    operator.get('/nodes/:ref', { ...FACTS, reply: words.Node }, (_call, { id }) => operators.nodes.get(id)),
    operator.post('/nodes/:ref/drain', { reply: words.Node }, (call, { id }) => operators.nodes.drain(call, id)),
    operator.delete('/nodes/:ref/drain', { reply: words.Node }, (call, { id }) => operators.nodes.resume(call, id)),
    operator.post('/verify', { role: 'support', reply: words.Verification }, (call) => operators.verify(call)),
    operator.get(
      '/requests/:ref',
      { holds: ['note'], query: words.TraceQuery, reply: words.RequestTrace },
      (call, { id, query }) => operators.trace(call, id, query),
    ),
    operator.get('/backups', { ...FACTS, reply: stored.BackupList }, (call) => backups.list(call)),
    operator.post('/backups/prune', { body: stored.BackupPruning, reply: stored.PrunedBackups }, (call, { body }) =>
      backups.prune(call, body),
    ),
    operator.post('/backups', { body: stored.NewBackup, reply: stored.Backup }, (call, { body }) =>
      operators.backup(call, body),
    ),
  ] as const
