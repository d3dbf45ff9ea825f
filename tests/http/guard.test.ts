import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { Exchange } from '../../src/http/context'
import { guard } from '../../src/http/guard'

/** Routes behind the guard with no gate before it: as if a path had slipped past. */
const ungated = new Elysia()
  .onRequest((context) => {
    Object.assign(context, { exchange: { caller: null, method: 'GET' } as Exchange })
  })
  .use(guard())
  .get('/scoped', () => 'reached', { scope: 'billing' })
  .get('/signed-in', () => 'reached', { signedIn: true })
  .get('/open', () => 'reached', { open: true })

test.each([
  ['/scoped', 500],
  ['/signed-in', 500],
  ['/open', 200],
])('%s without a caller is %i: only an open route is served to nobody', async (path, status) => {
  const response = await ungated.handle(new Request(`http://localhost${path}`))
  expect(response.status).toBe(status)
  expect((await response.text()) === 'reached').toBe(status === 200)
})
