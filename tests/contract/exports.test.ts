import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'

type Operation = { parameters?: { name: string; in: string }[]; responses: Record<string, { content?: object }> }

test('an export with a time that is none is refused before its first piece', async () => {
  const world = await createWorld()
  const authorization = { authorization: `Bearer ${(await world.person()).key}` }
  const { paths } = (await world.send('GET', '/openapi.json')).body as { paths: Record<string, { get?: Operation }> }
  const exports = Object.entries(paths).filter(
    ([, { get }]) =>
      'text/csv' in (get?.responses[200]?.content ?? {}) && get!.parameters?.some(({ name }) => name === 'from'),
  )
  expect(exports.map(([path]) => path)).toContain('/billing/ledger/export')
  for (const [path] of exports) {
    const { status, body } = await world.send('GET', `/api/v1${path}?from=nonsense`, undefined, authorization)
    expect({ path, status, code: body?.error?.code }).toEqual({ path, status: 400, code: 'validation_error' })
  }
})

test('the record of an export has no member of the query that it does not declare', async () => {
  const { send } = await (await createWorld()).person()
  for (const path of ['usage/export', 'audit/export'])
    expect((await send('GET', `${path}?note=n-5512`)).status).toBe(200)
  const { text } = await send('GET', 'audit')
  expect(text).toContain('usage.exported')
  expect(text).not.toContain('note')
})
