import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createSvc, type Svc } from '..'
import { CommandFailure, type SvcShell } from './shell'

const PRIVATE = 0o600
const DEFAULT_BASE = 'http://127.0.0.1:3400'

const fileOf = ({ env }: SvcShell): string => join(env.HOME || homedir(), '.svc', 'credentials')

/** The key in use: SVC_API_KEY, else the credentials file, whose mode is made 0600 again; null without one. */
export function keyOf(shell: SvcShell): string | null {
  if (shell.env.SVC_API_KEY) return shell.env.SVC_API_KEY
  const file = fileOf(shell)
  if (!existsSync(file)) return null
  if ((statSync(file).mode & 0o777) !== PRIVATE) chmodSync(file, PRIVATE)
  try {
    const { apiKey } = JSON.parse(readFileSync(file, 'utf8')) as { apiKey?: unknown }
    return typeof apiKey === 'string' && apiKey ? apiKey : null
  } catch {
    throw new CommandFailure(`${file} is not JSON any more; it should be {"apiKey":"svc_sk_…"}.`)
  }
}

/** Deletes the credentials file; says whether there was one. */
export function forget(shell: SvcShell): boolean {
  const file = fileOf(shell)
  const was = existsSync(file)
  rmSync(file, { force: true })
  return was
}

/** A key by its first and last characters. */
export const masked = (key: string): string => `${key.slice(0, 12)}…${key.slice(-4)}`

export const baseOf = ({ env }: SvcShell): string => env.SVC_BASE_URL || DEFAULT_BASE

/** The client of the key in use. Throws without one, unless `keyless`. */
export function clientOf(shell: SvcShell, { keyless = false } = {}): Svc {
  const apiKey = keyOf(shell)
  if (!apiKey && !keyless) {
    throw new CommandFailure('There is no key. Set SVC_API_KEY, or put {"apiKey":"svc_sk_…"} into ~/.svc/credentials.')
  }
  return createSvc({ baseUrl: baseOf(shell), apiKey: apiKey ?? '' })
}
