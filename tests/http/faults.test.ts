// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { toAppError } from '../../src/http/faults'
import { idempotencyKeys } from '../../src/idempotency/table'
import { createWorld } from '../support/world'

const routes = { methodsOf: () => [] }
/** What the framework makes of anything that is thrown while a body is read. */
const whileReading = (cause: unknown) => Object.assign(new Error('Bad Request', { cause }), { code: 'PARSE' })

describe('what is thrown while a body is read', () => {
  test.each([
    ['text that is not JSON', new SyntaxError('no')],
    ['a connection that was cut', new DOMException('The connection was closed.', 'AbortError')],
  ])('%s is a fault of the body', (_, cause) => {
    expect(toAppError('PARSE', whileReading(cause), '/api/v1/keys', routes).kind).toBe('invalid')
  })

  test.each([
    ['a bug', new TypeError('x is not a function')],
    ['a table that is not there', Object.assign(new Error('no relation'), { errno: '42P01' })],
    ['something that is no error', 'thrown'],
  ])('%s is ours', (_, cause) => {
    const known = toAppError('PARSE', whileReading(cause), '/api/v1/keys', routes)
    expect({ kind: known.kind, cause: known.cause }).toEqual({ kind: 'broken', cause })
  })

  test('as when a stored answer cannot be opened: 500, and the log has the cause', async () => {
    const world = await createWorld()
    const ada = await world.person()
    const again = () => ada.send('POST', 'keys', { name: 'once' }, { 'idempotency-key': 'sealed-otherwise' })
    expect((await again()).status).toBe(201)
    await world.app.store.write((tx) => tx.update(tx.of(idempotencyKeys)).set({ body: 'sealed with another key' }))
    const { status, body } = await again()
    expect({ status, code: body.error.code }).toEqual({ status: 500, code: 'server_error' })
    const fault = JSON.parse(world.logged.find((line) => line.includes(body.error.request_id))!)
    expect(fault.msg).toBe('fault')
    expect(fault.error).toEqual(expect.not.stringContaining('Bad Request'))
  })
})
