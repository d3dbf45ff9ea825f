import type { OpsClient } from '../src/app/client'
import { randomBase62 } from '../src/kernel/crypto'
import { usageFailure } from './failure'
import type { Shell } from './shell'

/** The routes that both APIs have, with the operators' types: tenants have no `owner`, and see and change their own. */
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

/** `own` asks for those of the key in use, also on the server's machine; `owner` is `--org` by default. */
type OwnerFilter = { own?: boolean; owner?: string | undefined }

/** The API of the credential in use, and the owner to send along: operators name one, tenants are one. */
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

/** The query of a request, without what is undefined. */
export const queryOf = (words: object): URLSearchParams =>
  new URLSearchParams(
    Object.entries(words).flatMap(([name, word]) => (word === undefined ? [] : [[name, String(word)]])),
  )

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The members that have a value: flags that were not given are left out of a request. */
export const defined = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>

/** Headers of a change that is made only once: the key of `--idempotency-key`, or a new one. */
export const onceHeaders = ({ globals }: Shell) => ({ 'idempotency-key': globals.idempotencyKey ?? randomBase62(24) })
