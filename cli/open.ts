import { existsSync, readFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join, relative } from 'node:path'
import { connect, connectOps, send, type Target } from '../src/app/client'
import { type Config, loadConfig } from '../src/app/config'
import type { OpenApp } from '../src/app/open'
import { clean } from '../src/kernel/text'
import type { Command } from './command'
import { CommandFailed, conflictFailure, EXIT, expectData, unreachable, usageFailure } from './failure'
import { formatOf } from './globals'
import { isStructured } from './output/print'
import { overridesOf } from './settings'
import type { Shell } from './shell'
import type { Connection, TenantApi } from './transport'
import { chooseTransport, fromHere, type Transport } from './transport'

const OPERATOR_KEY = 'svc_op_'

type Found = { key: string; source: string }

/** Files that a first start or a migration leaves. A restored folder has the first two. */
const MARKS = ['secrets.json', 'svc.db', 'server.lock']
const REMOTE_PATIENCE_MS = 120_000
const REMOTE_RETRIES = 2
/** Maximum wait for an answer of a server whose key is missing. */
const PROBE_MS = 3_000

/** Opens the connection that the command line selects (docs/operating.md 2.2). */
export async function openConnection(shell: Shell, command: Command): Promise<Connection> {
  const { globals, env } = shell
  const config = loadConfig(overridesOf(shell))
  const socketPath = join(config.dataDir, 'ops.sock')
  const transport = await chooseTransport({ globals, env, socketPath, answers: isListening })
  let credential: Found | null
  try {
    credential = credentialFor(shell, config.dataDir, transport, command)
  } catch (error) {
    // If the server does not answer, reports that instead of a missing key.
    if (transport.kind === 'remote') await assertAnswers(transport.url)
    throw error
  }
  assertOffered(transport, apiOfKey(credential), command)
  // Says which server is used, before anything else (docs/operating.md 2.2), but not in structured formats.
  if (transport.kind === 'remote' && !globals.quiet && !isStructured(formatOf(globals))) {
    const { inProfile } = globals
    const line = clean(inProfile ? `profile ${inProfile.name}: ${transport.url}` : `server: ${transport.url}`)
    shell.io.err(inProfile?.production ? shell.paint('bad', line) : line)
  }
  return connectionOver(shell, {
    transport,
    config,
    command,
    reached: await reach(transport, () => openHere(shell, command, config, transport.why)),
  })
}

/** @throws CommandFailed 7 */
async function assertAnswers(url: string): Promise<void> {
  try {
    await send({ kind: 'url', url }, '/api/v1/health', { signal: AbortSignal.timeout(PROBE_MS) })
  } catch (error) {
    const { code, name } = error as { code?: string; name: string }
    const message = `The server at ${url} does not answer (${code ?? name}).`
    throw unreachable(message, 'check the address and whether it runs')
  }
}

type Parts = { transport: Transport; config: Connection['config']; command: Command; reached: Reached }

/** Builds the connection once its target has been reached. */
export function connectionOver(shell: Shell, { transport, config, command, reached }: Parts): Connection {
  const credential = credentialFor(shell, config.dataDir, transport, command)
  const api = apiOfKey(credential)
  const options = { headers: statedBy(shell, transport), ...watching(shell, transport) }
  const bearer: Record<string, string> =
    credential && api === 'operator' ? { authorization: `Bearer ${credential.key}` } : {}
  const headers = { ...options.headers, ...bearer }
  const ops = () => connectOps(reached.operators, { ...options, headers })

  async function tenant(): Promise<TenantApi> {
    const target = await reached.tenants(ops)
    const { key, source } = credential ?? findKey(shell, config.dataDir, transport, command)
    const client = connect(target, { ...options, headers: { authorization: `Bearer ${key}` } })
    return { client, target, key, keySource: source, url: target.kind === 'url' ? target.url : null }
  }

  async function fetch(path: string, ended?: AbortSignal): Promise<Response> {
    const signal = ended ? AbortSignal.any([shell.signal, ended]) : shell.signal
    if (api === 'operator') return send(reached.operators, `/ops/v1/${path}`, { headers, signal })
    const { target, key } = await tenant()
    return send(target, `/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` }, signal })
  }

  async function follow(link: string): Promise<Response> {
    const { origin, pathname, search } = new URL(link)
    // A remote operator address serves no files, so the link's own origin is used.
    const isThere = transport.kind === 'remote' && api === 'operator'
    const target: Target = isThere ? { kind: 'url', url: origin } : await reached.tenants(ops)
    return send(target, `${pathname}${search}`, { headers: {}, signal: shell.signal })
  }

  return { transport, config, api, ops, fetch, follow, tenant, close: reached.close }
}

/** A remote server needs a key; on this machine, access to the socket or the files is enough. */
function credentialFor(shell: Shell, dataDir: string, transport: Transport, command: Command): Found | null {
  return transport.kind === 'remote' ? findKey(shell, dataDir, transport, command) : null
}

const apiOfKey = (credential: Found | null): Connection['api'] =>
  credential === null || credential.key.startsWith(OPERATOR_KEY) ? 'operator' : 'tenant'

/** Rejects, before anything is opened, what the transport or the key cannot do. */
function assertOffered(transport: Transport, api: Connection['api'], command: Command): void {
  if (transport.kind === 'local' && !command.offline) {
    const why = transport.why === '--local' ? '--local was given' : transport.why
    throw unreachable(`${command.path} needs a running server, but ${why}.`, 'svc-admin serve')
  }
  if (transport.kind !== 'remote' || command.apis.includes(api)) return
  throw api === 'tenant'
    ? refused(
        `${command.path} is for operators, but the key in use is an API key.`,
        `use --key-file with an operator key (svc_op_…), or run it on the server's machine without --url`,
      )
    : refused(
        `${command.path} calls the API, but the key in use is an operator key.`,
        'use --key-file with an API key (svc_sk_…), and --url with the address of the API',
      )
}

const refused = (message: string, fix: string): CommandFailed =>
  new CommandFailed({ exitCode: EXIT.refused, code: 'wrong_key', message, fix })

export type Reached = {
  operators: Target
  tenants(ops: () => ReturnType<typeof connectOps>): Promise<Target>
  close(): Promise<void>
}

async function reach(transport: Transport, openHere: () => Promise<OpenApp>): Promise<Reached> {
  const nothing = async () => undefined
  if (transport.kind === 'remote') {
    const target: Target = { kind: 'url', url: transport.url }
    return { operators: target, tenants: async () => target, close: nothing }
  }
  if (transport.kind === 'socket') {
    const tenants: Reached['tenants'] = async (ops) => {
      const { api_url } = expectData(await ops().status.get())
      if (!api_url) throw unreachable("The server's API has no address.")
      return { kind: 'url', url: new URL(api_url).origin }
    }
    return { operators: { kind: 'socket', path: transport.path }, tenants, close: nothing }
  }
  const app = await openHere()
  const api: Target = { kind: 'app', handle: app.api.handle }
  return { operators: { kind: 'app', handle: app.ops.handle }, tenants: async () => api, close: app.close }
}

/** Opens the app inside this command, with exclusive use of the data folder (docs/operating.md 2.2). */
async function openHere(shell: Shell, command: Command, config: Config, why: string): Promise<OpenApp> {
  assertDataFolder(shell, command, config)
  const { open } = await import('../src/app/open')
  try {
    return await open(overridesOf(shell))
  } catch (error) {
    const { name, message } = error as Error
    if (name !== 'ConfigError' || !message.includes('is using')) throw error
    const holder = message.split('. ')[0]!.replace('Another server', 'The server')
    if (why !== '--local')
      throw unreachable(
        `${holder}; it is starting or stopping, and does not answer yet.`,
        'run the same command again in a moment',
      )
    const fix = 'leave out --local to go through the server, or stop it first'
    throw conflictFailure(`${holder}.`, fix)
  }
}

/** The operator's name as claimed, because a socket proves only who owns the file (docs/operating.md 2.2). */
function statedBy({ globals }: Shell, { kind }: Transport): Record<string, string> {
  const { username, uid } = userInfo()
  return {
    'x-svc-operator': encodeURIComponent(`${username}@${hostname()} (uid ${uid})`),
    'x-svc-transport': kind,
    ...(globals.reason ? { 'x-svc-reason': encodeURIComponent(globals.reason) } : {}),
  }
}

/** With `-v` prints the duration and request id of each call. With `--debug` also prints the request line. */
function watching(shell: Shell, transport: Transport) {
  const { globals, io, clock, signal } = shell
  let last = clock.monotonic()
  let lastHidden = ''
  const onExchange = ({ method, url }: { method: string; url: string }, { status, headers }: Response) => {
    // Every answer of svc has a request id. A gateway that cannot reach svc answers 502 to 504 without one.
    if (transport.kind === 'remote' && !headers.has('x-request-id') && status <= 500)
      throw unreachable(
        `The server at ${transport.url} is not an svc server.`,
        'use --url with the address of the API, or of SVC_OPS_LISTEN',
      )
    const hidden = headers.get('x-svc-withheld')
    if (hidden && hidden !== lastHidden)
      shell.note(`Hidden for your operator role: ${hidden}. The role support can see it.`)
    lastHidden = hidden ?? lastHidden
    if (!globals.verbose && !globals.debug) return
    const ms = Math.round(clock.monotonic() - last)
    last = clock.monotonic()
    const line = globals.debug ? `${method} ${url} ${status} ` : ''
    io.err(clean(`${line}request ${headers.get('x-request-id') ?? 'unknown'}  ${ms} ms`))
  }
  // Long operations on this machine have no timeout. Remote requests have one. It bounds each request, because event
  // streams continue forever.
  const patienceMs = globals.timeout ?? (transport.kind === 'remote' ? REMOTE_PATIENCE_MS : null)
  const retries = transport.kind === 'remote' ? (globals.retries ?? REMOTE_RETRIES) : 0
  const retry = { retries, pause: (ms: number) => clock.sleep(ms, signal) }
  return { onExchange, signal, retry, ...(patienceMs === null ? {} : { patienceMs }) }
}

/** A socket file outlives a killed server, so only an accepted connection counts. */
export async function isListening(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data: () => undefined } })
    socket.end()
    return true
  } catch {
    return false
  }
}

/**
 * Keeps a command in the wrong folder from creating a new, empty server. Only `serve`, `init`, `migrate up` and the
 * `dev` commands create one.
 * @throws CommandFailed 7
 */
function assertDataFolder(shell: Shell, { path }: Command, { dataDir, production }: Config): void {
  if (MARKS.some((name) => existsSync(join(dataDir, name)))) return
  const near = relative(shell.cwd, dataDir)
  const place = near.startsWith('..') ? dataDir : near || '.'
  if (path.startsWith('dev ')) return
  const flag = shell.globals.dataDir ? ` --data-dir ${place}` : ''
  // A production start requires an engine first.
  const creates = production ? 'migrate up' : 'serve'
  throw unreachable(
    `There is no server here: there is no data folder at ${place}.`,
    `cd to the folder of the server, or add --data-dir or --url; svc-admin ${creates}${flag} creates a new server`,
  )
}

/**
 * The key to use: from `--key-file`, the environment, or, on the server's machine, the first run's file. Operator-only
 * commands look for the operator key first. A key is never the value of a flag (docs/operating.md 2.3).
 * @throws CommandFailed 4 when there is none
 */
function findKey(
  { globals, env, cwd }: Shell,
  dataDir: string,
  { kind }: Transport,
  { apis }: Pick<Command, 'apis'>,
): Found {
  if (globals.keyFile) return { key: readKey(fromHere(cwd, globals.keyFile)), source: globals.keyFile }
  const names = ['SVC_API_KEY', 'SVC_OPERATOR_KEY']
  for (const name of apis.includes('tenant') ? names : names.reverse()) {
    const key = env[name]?.trim()
    if (key) return { key, source: name }
  }
  const left = join(dataDir, 'dev-key')
  if (kind !== 'remote' && existsSync(left)) return { key: readKey(left), source: left }
  throw new CommandFailed({
    exitCode: EXIT.refused,
    code: 'invalid_api_key',
    message: 'This command needs a key.',
    fix:
      kind === 'remote'
        ? 'add --key-file FILE, or set SVC_API_KEY or SVC_OPERATOR_KEY'
        : 'svc-admin keys create --name cli --secret-to key.txt, then add --key-file key.txt',
    help: 'error invalid_api_key',
  })
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw usageFailure(`The key file ${path} cannot be read (${code ?? 'unknown reason'}).`)
  }
}
