import { beforeAll, describe, expect, test } from 'bun:test'
import type { Person, Reply, World } from './world'

/** How one request differs from the others of its table. */
type Case = {
  as?: Person
  /** Sends no credential. */
  anonymous?: boolean
  /** `POST keys`. */
  request?: string
  headers?: Record<string, string>
  status?: number
  code?: string
  param?: string
  /** Anything else that must be true of the answer. */
  also?(reply: Reply): void | Promise<void>
}

/**
 * One request that is refused: its name, its body, and a part of the message. A message that begins with a quoted
 * member also names that member in `param`. An object as body has the members of the table's body as well.
 */
export type Refusal = readonly [name: string, body: unknown, says: string | RegExp, differs?: Case]

/** One refusal for each body, all at the same member; each is named by what is sent. */
export const at = (param: string, ...bodies: unknown[]): Refusal[] =>
  bodies.map((body) => [`${param} in ${JSON.stringify(body)?.slice(0, 80)}`, body, '', { param }])

type Table = Case & { world: World; as: Person; request: string; body?: object }

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
}
/** The error type of a status (docs/api.md 1.5). */
export const typeOf = (status: number): string => TYPES[status] ?? 'api_error'

/**
 * Tests one request per row: 400 `validation_error` unless the row or the table says otherwise. After the last row the
 * caller of the table has the money, audit rows, events and conversations that they had before the first one.
 */
export function refusals(title: string, table: Table, rows: readonly Refusal[]): void {
  describe(title, () => {
    let before: Awaited<ReturnType<typeof recordOf>>
    beforeAll(async () => {
      before = await recordOf(table)
    })

    test.each(rows.map((row) => [row[0], row] as const))('%s', (_, row) => expectRefusal(table, row))

    test('and nothing follows from any of them', async () => {
      expect(await recordOf(table)).toEqual(before)
    })
  })
}

async function expectRefusal(table: Table, [, own, says, differs = {}]: Refusal): Promise<void> {
  const { world, as, anonymous, request, headers, param, also, ...other } = { ...table, ...differs }
  const { status = 400, code = 'validation_error' } = other
  const [method, path] = request.split(' ') as [string, string]
  const isObject = typeof own === 'object' && own !== null && !Array.isArray(own)
  const { send } = anonymous ? world : as
  const reply = await send(method, path, isObject ? { ...table.body, ...own } : own, headers)
  expect({ status: reply.status, code: reply.body?.error?.code }).toEqual({ status, code })
  expect(reply.headers.get('content-type')).toStartWith('application/json')
  const { error } = reply.body
  expect(error.type).toBe(typeOf(status))
  const isAboutBody = /^validation_error$|_invalid$/.test(code)
  const named = param ?? (isAboutBody && typeof says === 'string' ? /^"([^"]+)"/.exec(says)?.[1] : undefined)
  if (named !== undefined) {
    expect(error.param).toBe(named)
    expect(error.details?.[0]?.path ?? named).toBe(named)
  }
  if (typeof says === 'string') expect(error.message).toContain(says)
  else expect(error.message).toMatch(says)
  await also?.(reply)
}

/** What a request that is refused must leave as it was. */
async function recordOf({ world, as }: Table) {
  const { billing } = world.app.container
  const owner = as.orgId ? (`org:${as.orgId}` as const) : (`user:${as.userId}` as const)
  const session = await world.signedIn(as)
  const read = async (path: string) => (await session.send('GET', path)).body
  return {
    wallet: await billing.balance(world.app.store.read, owner),
    audit: await read('audit'),
    events: (await read('events')).events,
    conversations: (await read('conversations')).conversations,
  }
}
