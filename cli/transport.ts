import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { OpsClient, Target, TenantClient } from '../src/app/client'
import type { Config } from '../src/app/config'
import { unreachable, usageFailure } from './failure'
import type { Environment, Globals } from './globals'

/** A connection to a server. */
export type Connection = {
  transport: Transport
  /** The configuration of this machine. A remote server's is unknown. */
  config: Config
  /** Which API the credential opens: on this machine the operators', otherwise the one the key is for. */
  api: 'operator' | 'tenant'
  /**
   * The operator API. Commands with an API key and `--url` are rejected before this.
   */
  ops(): OpsClient
  /** Sends one plain request to the API of the credential in use, for streams. `ended` stops it. */
  fetch(path: string, ended?: AbortSignal): Promise<Response>
  /** Fetches the target of a signed link of the server, without a key. */
  follow(link: string): Promise<Response>
  /** The tenant API with the given key or the first run's key. @throws CommandFailed 4, 7 */
  tenant(): Promise<TenantApi>
  close(): Promise<void>
}

export type TenantApi = { client: TenantClient; target: Target; key: string; keySource: string; url: string | null }

/** How a command reaches the server (docs/operating.md 2.2), and why, as shown by `status`. */
export type Transport =
  | { kind: 'socket'; path: string; why: string }
  | { kind: 'remote'; url: string; why: string }
  | { kind: 'local'; why: string }

type Surroundings = {
  globals: Globals
  env: Environment
  /** Path of the operator socket for this configuration. */
  socketPath: string
  /** True if a server answers at a socket path. */
  answers(path: string): boolean | Promise<boolean>
}

/** The first that applies: a flag, `SVC_URL`, the active profile, the data folder's socket, the data folder itself. */
export async function chooseTransport({ globals, env, socketPath, answers }: Surroundings): Promise<Transport> {
  if (globals.inProfile && globals.url)
    return { kind: 'remote', url: readUrl(globals.url), why: `profile ${globals.inProfile.name}` }
  const flags = [
    globals.url && globals.url !== env.SVC_URL && '--url',
    globals.local && '--local',
    globals.socket && '--socket',
  ]
  const given = flags.filter(Boolean)
  if (given.length > 1) throw usageFailure(`${given.join(' and ')} choose two servers. Leave one out.`)
  if (globals.local) return { kind: 'local', why: '--local' }
  if (globals.socket) {
    const path = resolve(globals.socket)
    if (await answers(path)) return { kind: 'socket', path, why: '--socket' }
    const state = existsSync(path) ? 'Nothing listens on' : 'There is no socket at'
    throw unreachable(`${state} ${path}.`, 'svc-admin serve, or leave out --socket')
  }
  if (globals.url) return { kind: 'remote', url: readUrl(globals.url), why: given.length ? '--url' : 'SVC_URL' }
  if (await answers(socketPath)) return { kind: 'socket', path: socketPath, why: 'a server answers here' }
  return { kind: 'local', why: `no server answers at ${socketPath}` }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Reads an origin. Keys are sent in a header, so anything but loopback must be HTTPS. */
export function readUrl(word: string): string {
  const url = URL.canParse(word) ? new URL(word) : null
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw usageFailure(`--url is "${word}"; write the full address: https://svc.example.`)
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    throw usageFailure(`${url.origin} is not HTTPS, so the key would be sent unprotected.`, `--url https://${url.host}`)
  }
  if (url.username || url.password)
    throw usageFailure('--url contains a password. Put the key in a file and add --key-file FILE.')
  return url.origin
}

/** Relative paths in flags are relative to the working directory. */
export const fromHere = (cwd: string, path: string): string => (isAbsolute(path) ? path : join(cwd, path))
