import { afterAll, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { operatorKey, type Pty } from './support/pty'

const key = operatorKey()
const open: Pty[] = []
/** Answers nothing before it is asked to, and then that it does not know the key. */
const silent = Promise.withResolvers<void>()
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 255,
  async fetch() {
    await silent.promise
    const error = { message: 'The key is not one of this server.', code: 'invalid_api_key' }
    return Response.json({ error }, { status: 401, headers: { 'x-request-id': 'req_test' } })
  },
})
afterAll(async () => {
  await Promise.all(open.map((pty) => pty.close()))
  await server.stop(true)
  key.remove()
})

/** A dashboard at whose start keys were pressed, the first of which would end it. */
async function impatient(): Promise<Pty> {
  const pty = await key.dashboard(String(server.url), ['--no-motion'])
  open.push(pty)
  pty.type('q2\r')
  await eventually(() => {
    pty.type('~')
    return pty.text().includes('… connects')
  })
  return pty
}

test('the screen is there before the server answers, and keys that were pressed before do nothing to it', async () => {
  const pty = await impatient()
  await eventually(() => pty.buffer() === 'alternate')
  await pty.shows('· · ·')
  expect(pty.lines()[0]).toStartWith(' svc-admin  Overview ')
  expect(pty.lines()[1]).toStartWith('[1 Over] 2 Jobs ')
  expect(pty.text()).not.toMatch(/[~]|q2/)
  expect(pty.scrolled()).toBe(false)
  // From now on they count.
  await pty.press('2', ' 1 Over [2 Jobs] ')
  expect(await pty.quit()).toBe(0)
  await eventually(() => pty.buffer() === 'normal')
}, 60_000)

test('a key that is refused ends it with the code and the words that every command has', async () => {
  const pty = await impatient()
  silent.resolve()
  expect(await pty.exited).toBe(4)
  await pty.shows('error: The key is not one of this server.')
  expect(pty.buffer()).toBe('normal')
}, 60_000)
