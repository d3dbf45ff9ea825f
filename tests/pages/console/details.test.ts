import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world'

const DETAIL = /path: \(id\) => `(\/[^`$]+)\$\{id\}`,(?:\s*member: '(\w+)')?/g
type Schema = { $ref?: string; properties?: Record<string, unknown>; allOf?: Schema[]; anyOf?: Schema[] }

test('a drawer of the console takes its row from where the route has it', async () => {
  const world = await createWorld()
  const document = (await world.send('GET', '/openapi.json')).body
  const membersOf = ({ $ref, properties = {}, allOf = [], anyOf = [] }: Schema): string[] =>
    $ref
      ? membersOf(document.components.schemas[$ref.split('/').at(-1)!])
      : [...Object.keys(properties), ...[...allOf, ...anyOf].flatMap(membersOf)]
  const routes = world.app.ops.routes.map(({ method, path }) => `${method} ${path}`)
  const files = await Array.fromAsync(new Bun.Glob('src/pages/browser/console/sections/**/*.tsx').scan('.'))
  const sources = await Promise.all(files.sort().map((file) => Bun.file(file).text()))
  const details = sources.flatMap((text) => [...text.matchAll(DETAIL)])
  expect(details.length).toBeGreaterThan(10)
  for (const [, path, member] of details) {
    // Of operators alone, whose API has no document.
    if (!document.paths[`${path}{id}`]) {
      expect(routes).toContain(`GET /ops/v1${path}:ref`)
      continue
    }
    const { content } = document.paths[`${path}{id}`].get.responses[200]
    const members = membersOf(content['application/json'].schema)
    expect({ path, member, isThere: member === undefined || members.includes(member) }).toMatchObject({ isThere: true })
    const isRow = members.some((name) => /^(id|session_id)$/.test(name))
    expect({ path, member, isRow }).toEqual({ path, member, isRow: member === undefined })
  }
})
