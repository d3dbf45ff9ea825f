import { expect, test } from 'bun:test'
import { form } from '../../src/kernel/form'
import { t } from '../../src/kernel/schema'
import { assertFits } from '../../src/kernel/validation'

const messageOf = (...[schema, value]: Parameters<typeof assertFits>): string => {
  try {
    assertFits(schema, value)
  } catch (error) {
    return (error as Error).message
  }
  return 'fits'
}

const refusal = (pattern: string): string => messageOf(t.Object({ size: t.String({ pattern }) }), { size: 'x!' })

test('what a pattern asks for is said in words; the pattern itself only where nobody wrote them', () => {
  expect(refusal(form('^[0-9]{2}$', 'two digits, such as 42'))).toBe(
    '"size" is "x!"; it must be two digits, such as 42.',
  )
  expect(refusal('^[0-9]{3}$')).toBe('"size" is "x!", which does not have the right form: ^[0-9]{3}$.')
})

test('a member is named with the dots and digits of its name, and an entry by its place', () => {
  const sizes = t.Record(t.String(), t.Array(t.Integer()))
  const refused = (name: string) => messageOf(t.Object({ sizes }), { sizes: { [name]: [1, 'x'] } })
  for (const name of ['a.b', '7', 'a.b.c'])
    expect(refused(name)).toBe(`"sizes.${name}[1]" is "x"; it must be a whole number.`)
})
