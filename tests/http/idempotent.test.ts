import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { isAsync } from 'elysia/compose'
import type { Exchange } from '../../src/http/context'
import { createBodyReader, givenBack, guard, ONCE, toCall } from '../../src/http/guard'
import { createRouteRules } from '../../src/http/route-rules'
import { createIdempotency, storeAnswer } from '../../src/idempotency'
import { newRequestId } from '../../src/kernel/ids'
import { checked, described, t } from '../../src/kernel/schema'
import { keyCaller } from '../support/callers'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const idempotency = createIdempotency({ store, clock: fakeClock(), masterKey: new Uint8Array(32).fill(1) })
const caller = keyCaller()
let runs = 0

const rules = createRouteRules()
const Input = checked(t.Object({ fail: t.Optional(t.Boolean()), stream: t.Optional(t.Boolean()) }))
const created = { 201: described(t.Object({ run: t.Number() })) }
const app = new Elysia()
  .decorate('exchange', null as unknown as Exchange)
  .onRequest((context) => {
    const { request } = context
    const { pathname: path } = new URL(request.url)
    context.exchange = {
      caller,
      requestId: newRequestId(),
      method: request.method,
      path,
      notes: {},
      ticket: null,
      replay: null,
    } as unknown as Exchange
  })
  .onError(({ exchange, set }) => {
    set.status = 500
    return exchange.ticket ? givenBack(exchange, { error: 'failed' }) : { error: 'failed' }
  })
  .use(guard(createBodyReader({ idempotency, rules, incoming: '' })))
  .post('/alone', ({ status }) => status(201, { run: ++runs }), { signedIn: true, idempotent: true, response: created })
  .post(
    '/with-body/:id',
    async (context) => {
      if (context.body.fail) throw new Error('before the effect')
      return context.status(201, await store.write((tx) => storeAnswer(tx, toCall(context), { run: ++runs })))
    },
    { signedIn: true, idempotent: true, body: Input, response: created, detail: { 'x-streams': true } as object },
  )
  .post('/refused', ({ status }) => status(422 as 201, { run: 0 }), {
    signedIn: true,
    idempotent: true,
    response: created,
  })
  .post(
    '/late-failure',
    async (context) => {
      await store.write((tx) => storeAnswer(tx, toCall(context), { run: ++runs }))
      throw new Error('after the effect')
    },
    { signedIn: true, idempotent: true, response: created },
  )
  .post('/without', () => ({ run: ++runs }), { signedIn: true })
rules.learn(app.routes as never)

let keys = 0
const newKey = () => `key-${++keys}`
async function post(path: string, key: string, body?: object) {
  const response = await app.handle(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'idempotency-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }),
  )
  return {
    status: response.status,
    text: await response.text(),
    type: response.headers.get('content-type'),
    isReplay: response.headers.has('x-idempotent-replay'),
  }
}

test('an answer that no unit of work took along is kept all the same', async () => {
  const key = newKey()
  const first = await post('/alone', key)
  expect(first).toMatchObject({ status: 201, type: 'application/json;charset=utf-8', isReplay: false })
  expect(await post('/alone', key)).toEqual({ ...first, isReplay: true })
})

test('an effect takes its answer along', async () => {
  const key = newKey()
  const first = await post('/with-body/1', key, {})
  expect(first).toMatchObject({ status: 201, isReplay: false })
  expect(await post('/with-body/1', key, {})).toEqual({ ...first, isReplay: true })
  expect((await post('/with-body/2', key, {})).status).toBe(500)
})

test('a failure before the effect leaves the key free', async () => {
  const key = newKey()
  expect((await post('/with-body/1', key, { fail: true })).status).toBe(500)
  expect(await post('/with-body/1', key, {})).toMatchObject({ status: 201, isReplay: false })
})

test('H10 a failure after the effect is reported once; the retry gets the completed answer without a second effect', async () => {
  const key = newKey()
  expect((await post('/late-failure', key)).status).toBe(500)
  const before = runs
  expect(await post('/late-failure', key)).toMatchObject({ status: 201, isReplay: true })
  expect(runs).toBe(before)
})

test('a refusal that is answered, not thrown, is not kept', async () => {
  const key = newKey()
  expect(await post('/refused', key)).toMatchObject({ status: 422, text: '{"run":0}', isReplay: false })
  expect(await post('/refused', key)).toMatchObject({ status: 422, isReplay: false })
})

test('a body that asks for a stream has no key, on a route that streams', async () => {
  const key = newKey()
  const bodies = [await post('/with-body/1', key, { stream: true }), await post('/with-body/1', key, { stream: true })]
  expect(bodies.map(({ isReplay }) => isReplay)).toEqual([false, false])
  expect(bodies[0]!.text).not.toBe(bodies[1]!.text)
})

test('a route that is not switched on runs each time', async () => {
  const key = newKey()
  expect((await post('/without', key)).text).not.toBe((await post('/without', key)).text)
})

test('a route that is switched on declares one success, or two, of which the later is kept', () => {
  const declaring = (response: object) => {
    const declared = createRouteRules()
    const detail = { security: [{}], 'x-idempotent': true }
    declared.learn([{ method: 'POST', path: '/it', hooks: { detail, response } }])
    return declared.of('POST', '/it')?.once
  }
  expect(declaring({ 200: {}, 201: {}, 409: {} })?.status).toBe(201)
  for (const response of [{ 400: {} }, { 200: {}, 201: {}, 202: {} }]) {
    expect(() => declaring(response)).toThrow('/it is idempotent and does not declare one success')
  }
})

test('a request without a key waits for nothing more', () => {
  expect(Object.values(ONCE).map((hook) => isAsync(hook))).toEqual([false, false])
})
