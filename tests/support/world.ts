import { afterAll } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, type ConfigOverrides, loadConfig } from '../../src/app/config'
import { type OpenApp, openApp } from '../../src/app/open'
import { startEngineSettingsLoop } from '../../src/engines'
import type { Call, OperatorCaller, Scope, Tier } from '../../src/kernel/caller'
import { type Clock, systemClock } from '../../src/kernel/clock'
import { type KeyId, newRequestId, type OrgId, type UserId } from '../../src/kernel/ids'
import { createLog, type Log } from '../../src/kernel/log'
import type { Loop } from '../../src/kernel/loop'
import { centsToMicro } from '../../src/kernel/money'
import { callOf, keyCaller } from './callers'
import { type Conformance, createConformance, type Document } from './conformance'
import { eventually } from './eventually'
import { copyMigratedFile, createMigratedDatabase, postgresUrl } from './store'

export type Person = {
  userId: UserId
  orgId: OrgId | null
  key: string
  keyId: string
  /** Sends a request as this person; a body is sent as JSON, a form as it is. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

/** A complete response. `body` is undefined when it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Reply = { status: number; headers: Headers; text: string; body: any }

export type PersonInput = { scopes?: readonly Scope[]; tier?: Tier; cents?: number; ofOrg?: boolean }

export type World = Awaited<ReturnType<typeof createWorld>>

type Options = {
  config?: ConfigOverrides
  clock?: Clock
  env?: Record<string, string>
  /** One node in any run: for what each node remembers by itself, or by the test's clock and not that of Redis. */
  isAlone?: boolean
}

/**
 * The whole product on an empty database: real routes, real store, real files; only what the test passes in is fake.
 * Every response is checked against the OpenAPI document. Removed when the test file ends.
 */
export async function createWorld({ config: overrides = {}, clock = systemClock, isAlone = false }: Options = {}) {
  const count = isAlone ? 1 : NODES
  const folder = mkdtempSync(join(tmpdir(), 'svc-world-'))
  const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
  if (!database) await copyMigratedFile(join(folder, 'svc.db'))
  const config: Config = loadConfig({
    dataDir: folder,
    ...(database && count > 1 ? { redisUrl: process.env.TEST_REDIS_URL ?? '' } : {}),
    ...(database ? { databaseUrl: database.url } : {}),
    ...overrides,
  })
  const logged: string[] = []
  const log = createLog({ level: 'debug', pretty: false, write: (line) => logged.push(line) })
  const app = await openApp({ config, clock, log })
  const others = database ? await otherNodes(count, folder, config, clock, log) : []
  shares.set(app, { turn: 0, nodes: [app, ...others] })
  const hearing = others.length ? await heardBy([app, ...others]) : []
  afterAll(async () => {
    for (const loop of hearing) await loop.stop()
    for (const each of [...others, app]) await each.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    app,
    nodes: [app, ...others],
    folder,
    logged,
    clock,
    config,
    person: (input?: PersonInput) => createPerson(app, input),
    /** A `Call` of this person, for services without a route. */
    callAs: (person: Person): Call => callOf(keyCaller({ userId: person.userId, keyId: person.keyId as KeyId })),
    send: sender(app, {}),
    /** Anyone who holds this key or session token. */
    byKey: (key: string) => ({ send: sender(app, { authorization: `Bearer ${key}` }) }),
    /** What is behind a link of an answer, which may name another host. */
    download: (link: string): Promise<Response> => {
      const { pathname, search } = new URL(link)
      return Promise.resolve(app.api.handle(new Request(`http://localhost${pathname}${search}`)))
    },
    /** The same person in a dashboard session, which has no key limits. */
    signedIn: (person: Person) => signedIn(app, person),
  }
}

/** With `TEST_NODES=3`, Postgres and `TEST_REDIS_URL`, a world has three nodes, and each request meets the next one. */
const NODES = Number(process.env.TEST_NODES ?? 1)
/** What a node remembers is dropped everywhere within this time of a change (issue 20). */
export const HEARD_WITHIN_MS = 100
const shares = new WeakMap<OpenApp, { turn: number; nodes: OpenApp[] }>()

async function otherNodes(count: number, folder: string, config: Config, clock: Clock, log: Log): Promise<OpenApp[]> {
  const nodes: OpenApp[] = []
  for (let at = 1; at < count; at++) {
    const dataDir = join(folder, `node-${at}`)
    mkdirSync(dataDir, { mode: 0o700 })
    copyFileSync(join(folder, 'secrets.json'), join(dataDir, 'secrets.json'))
    const shared = config.filesDir || join(folder, 'files')
    nodes.push(await openApp({ config: { ...config, dataDir, filesDir: shared }, clock, log }))
  }
  return nodes
}

/** Nodes hear of each other's changes as soon as they serve. */
async function heardBy(nodes: readonly OpenApp[]): Promise<Loop[]> {
  const onError = (name: string, error: unknown) => {
    throw new Error(name, { cause: error })
  }
  const loops = nodes.flatMap(({ container, store }) => [
    container.live.start(),
    startEngineSettingsLoop({ registry: container.engineRegistry, store, clock: systemClock, onError }),
  ])
  await eventually(() => nodes.every(({ store }) => store.wire?.hearing()))
  return loops
}

/** The node whose turn it is. */
function nextOf(app: OpenApp): OpenApp {
  const share = shares.get(app)!
  return share.nodes[share.turn++ % share.nodes.length]!
}

let people = 0

/** Creates a user with a key and credit: personal, or an org's. */
async function createPerson(app: OpenApp, input: PersonInput = {}): Promise<Person> {
  const { scopes, tier = 'enterprise', cents = 10_000, ofOrg = false } = input
  const { store, orgs, billing, keys } = app.container
  const call = operatorCall()
  const made = await store.write(async (tx) => {
    const number = ++people
    const user = await orgs.createUser(tx, { email: `person${number}@example.com`, name: `Person ${number}` })
    const org = ofOrg ? await orgs.createOrg(tx, call, user.id, { name: `Org ${number}` }) : null
    if (org) await orgs.makeActive(tx, user.id, org.id)
    const owner = org ? (`org:${org.id}` as const) : (`user:${user.id}` as const)
    if (cents > 0)
      await billing.grant(tx, { owner, amount: centsToMicro(cents), ref: owner, kind: 'grant', note: null })
    const orgId = org?.id ?? null
    const key = await keys.createIn(tx, call, {
      name: 'test',
      userId: user.id,
      orgId,
      tier,
      ...(scopes ? { scopes: [...scopes] } : {}),
    })
    return { userId: user.id, orgId, key: key.key, keyId: key.id as string }
  })
  return { ...made, send: sender(app, { authorization: `Bearer ${made.key}` }) }
}

async function signedIn(app: OpenApp, person: Person): Promise<Person> {
  const { store, sessions } = app.container
  const { token } = await store.write((tx) => sessions.open(tx, person.userId))
  return { ...person, key: token, send: sender(app, { authorization: `Bearer ${token}` }) }
}

export const operatorCall = (): Call<OperatorCaller> => ({
  caller: { type: 'operator', role: 'admin', name: 'test', transport: 'local', reason: 'test' },
  requestId: newRequestId(),
  route: 'TEST /',
  signal: new AbortController().signal,
})

const sender =
  (app: OpenApp, state: Record<string, string>) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
    const isPlain = body === undefined || body instanceof FormData
    const json: Record<string, string> = isPlain ? {} : { 'content-type': 'application/json' }
    const request = new Request(`http://localhost${path.startsWith('/') ? '' : '/api/v1/'}${path}`, {
      method,
      headers: { ...json, ...state, ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' || isPlain ? (body as string) : JSON.stringify(body) }),
    })
    const reply = await read(await nextOf(app).api.handle(request))
    const isShared = shares.get(app)!.nodes.length > 1
    if (isShared && method !== 'GET' && reply.status < 400) await Bun.sleep(HEARD_WITHIN_MS)
    const assertConforms = await conformanceOf(app)
    assertConforms({ method, path: new URL(request.url).pathname, ...reply })
    return reply
  }

async function read(response: Response): Promise<Reply> {
  const { status, headers } = response
  const text = await response.text()
  const isJson = /^application\/json\b/.test(headers.get('content-type') ?? '')
  return { status, headers, text, body: isJson && text ? JSON.parse(text) : undefined }
}

let conformance: Promise<Conformance> | undefined

/** All worlds of a run have the same OpenAPI document, so the checker is built once. */
function conformanceOf(app: OpenApp): Promise<Conformance> {
  const load = async () => {
    const response = await app.api.handle(new Request('http://localhost/openapi.json'))
    return createConformance((await response.json()) as Document)
  }
  conformance ??= load()
  return conformance
}
