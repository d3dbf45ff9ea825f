import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { SQL } from 'bun'
import { getTableConfig as configOnPostgres } from 'drizzle-orm/pg-core'
import { getTableConfig as configOnSqlite } from 'drizzle-orm/sqlite-core'
import { type AnyElysia, Elysia } from 'elysia'
import type { Exchange } from '../../src/http/context'
import { statusOf, toEnvelope } from '../../src/http/envelope'
import { toAppError } from '../../src/http/faults'
import { createBodyReader, guard as createGuard, type Guard } from '../../src/http/guard'
import { createOperatorRules, type OperatorEdge, operatorEdge } from '../../src/http/operator-edge'
import { createRouteRules } from '../../src/http/route-rules'
import { newRequestId } from '../../src/kernel/ids'
import { createLog } from '../../src/kernel/log'
import type { Table } from '../../src/kernel/store'
import { senderOn } from '../operators/support'
import type { Person, World } from '../support/world'
import { bookmarkOperatorRoutes, bookmarkRoutes } from './bookmarks/routes'
import { createBookmarks } from './bookmarks/service'
import { bookmarks } from './bookmarks/table'

type Mounted = { tenants(guard: Guard): AnyElysia; operators(edge: OperatorEdge): AnyElysia }

/** What a release would do for the noun: make its table, build its service, and mount it on both APIs. */
export async function serveBookmarks(world: World, max: number) {
  await createTable(world, bookmarks)
  const { resources } = world.app.container
  const service = createBookmarks({ resources, settings: { maxBookmarks: max } })
  return serve(world, {
    tenants: (guard) => bookmarkRoutes(service, guard),
    operators: (edge) => bookmarkOperatorRoutes(service, edge),
  })
}

/** Senders to both APIs: real but for the tenants' edge, of which only the caller and the envelope are here. */
export function serve(world: World, { tenants, operators }: Mounted) {
  const rules = createRouteRules()
  const { authenticate, idempotency } = world.app.container
  const app = new Elysia({ normalize: false })
    .decorate('exchange', null as unknown as Exchange)
    .onRequest(async (context) => {
      const { method, url, headers } = context.request
      const caller = await authenticate({ authorization: headers.get('authorization'), cookie: null })
      const path = new URL(url).pathname
      const exchange = { caller, path, method, rule: rules.at(method, path), requestId: newRequestId() }
      context.exchange = { ...exchange, notes: {}, ticket: null, replay: null } as unknown as Exchange
    })
    .onError(({ code, error, path, set, exchange }) => {
      const known = toAppError(code, error, path, rules)
      set.status = statusOf(known)
      return toEnvelope(known, exchange.requestId)
    })
    .group('/api/v1', (v1) => v1.use(tenants(createGuard(createBodyReader({ idempotency, rules, incoming: '' })))))
  rules.learn(app.routes as never)
  const log = createLog({ level: 'error', pretty: false, write: () => undefined })
  const ofOperators = createOperatorRules()
  const operatorApi = operators(operatorEdge({ log, rules: ofOperators, identify: null }))
  ofOperators.learn(operatorApi.routes as never)
  return {
    as: ({ key }: Person) => senderOn(app, { authorization: `Bearer ${key}` }, '/api/v1/'),
    ops: senderOn(operatorApi, {}),
  }
}

/** Makes a table that no migration has. */
export async function createTable({ folder, config }: World, table: Table<unknown>): Promise<void> {
  if (!config.databaseUrl) {
    new Database(join(folder, 'svc.db')).run(statements(configOnSqlite(table.sqlite as never)))
    return
  }
  const client = new SQL(config.databaseUrl, { max: 1 })
  await client.unsafe(statements(configOnPostgres(table.postgres as never)))
  await client.close()
}

type Shape = {
  name: string
  columns: { name: string; notNull: boolean; primary: boolean; getSQLType(): string }[]
  indexes: { config: { name: string; columns: { name: string }[]; unique: boolean; where?: unknown } }[]
}

function statements(shape: unknown): string {
  const { name, columns, indexes } = shape as Shape
  const lines = columns.map(
    (one) => `"${one.name}" ${one.getSQLType()}${one.primary ? ' PRIMARY KEY' : one.notNull ? ' NOT NULL' : ''}`,
  )
  const ofIndexes = indexes.map(({ config: { name: index, columns: on, unique, where } }) => {
    const listed = on.map((one) => `"${one.name}"`).join(', ')
    return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX "${index}" ON "${name}" (${listed})${where ? ' WHERE is_default' : ''}`
  })
  return [`CREATE TABLE "${name}" (${lines.join(', ')})`, ...ofIndexes].join(';\n')
}
