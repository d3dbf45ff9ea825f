import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const session = await world.signedIn(ada)

const NAMED: [string, object][] = [
  ['guardrail-policies', {}],
  ['routing-preferences', {}],
  ['keys', {}],
  ['orgs', {}],
  ['skills/create', { slug: 'named', category: 'creative', system_prompt_ext: 'Be brief.' }],
]

describe.each(NAMED)('a name sent to POST /%s', (path, rest) => {
  test.each([
    ['a line break', 'a\nb'],
    ['an escape', 'a\u001b[31mb'],
    ['an override of the direction', '\u202eevil'],
    ['an isolate', '\u2066evil'],
    ['a line separator', 'a\u2028b'],
  ])('with %s is refused', async (_, name) => {
    const { status, body } = await session.send('POST', path, { ...rest, name })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'validation_error', 'name'])
    expect(body.error.message).toContain('one line without control characters')
  })

  test('of nothing but blanks is blank', async () => {
    const { status, body } = await session.send('POST', path, { ...rest, name: ' ' })
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(body.error.message).toContain('"name" is blank')
  })

  test('in any script stands', async () => {
    const { status } = await session.send('POST', path, { ...rest, name: 'Zoë שלום 東京 🎉' })
    expect(status).toBeOneOf([200, 201])
  })
})

test.each(['guardrail-policies', 'routing-preferences'])('a changed name of /%s is held to the same', async (path) => {
  const { id } = (await ada.send('POST', path, { name: 'Mine' })).body
  expect((await ada.send('PATCH', `${path}/${id}`, { name: 'a\nb' })).status).toBe(400)
})
