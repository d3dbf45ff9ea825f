import type { OpsClient } from '../src/app/client'
import { randomBase62 } from '../src/kernel/crypto'
import { usageFailure } from './failure'
import type { Shell } from './shell'

/** The routes of both APIs, with the operators' types. Tenants have no `owner`, and only see their own data. */
export type SharedRoutes = Pick<
  OpsClient,
  | 'browser'
  | 'guardrails'
  | 'guardrail-policies'
  | 'routing-preferences'
  | 'routing-corrections'
  | 'evi'
  | 'events'
  | 'hooks'
  | 'iframes'
  | 'jobs'
  | 'keys'
  | 'requests'
  | 'skills'
  | 'test-cases'
  | 'usage'
  | 'views'
  | 'workflows'
  | 'webhooks'
>

/** `own` selects the data of the key in use, even on the server's machine. `owner` defaults to `--org`. */
type OwnerFilter = { own?: boolean; owner?: string | undefined }

/** The API of the credential in use, and the owner to send. Operators name an owner. For tenants the key decides. */
export async function apiOf(shell: Shell, { own = false, owner = shell.globals.org }: OwnerFilter = {}) {
  const connection = await shell.connect()
  if (!own && connection.api === 'operator') {
    const api: SharedRoutes = connection.ops()
    return { api, isOperator: true, ownerFilter: owner === undefined ? {} : { owner } }
  }
  return { api: (await connection.tenant()).client as unknown as SharedRoutes, isOperator: false, ownerFilter: {} }
}

/** @throws CommandFailed 2 when a tenant uses flags that only operators have */
export function assertOperator(isOperator: boolean, isUsed: boolean, message: string): void {
  if (isUsed && !isOperator) throw usageFailure(message)
}

/** The query of a request, without undefined members. */
export const queryOf = (words: object): URLSearchParams =>
  new URLSearchParams(
    Object.entries(words).flatMap(([name, word]) => (word === undefined ? [] : [[name, String(word)]])),
  )

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The members that have a value. Omitted flags do not appear in a request. */
export const defined = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>

/** Headers of a change that must happen only once: the key of `--idempotency-key`, or a new one. */
export const onceHeaders = ({ globals }: Shell) => ({ 'idempotency-key': globals.idempotencyKey ?? randomBase62(24) })
