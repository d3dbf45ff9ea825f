import { expect, test } from 'bun:test'
import { form } from '../../src/kernel/form'
import { t } from '../../src/kernel/schema'
import { assertFits } from '../../src/kernel/validation'

const refusal = (pattern: string): string => {
  try {
    assertFits(t.Object({ size: t.String({ pattern }) }), { size: 'x!' })
  } catch (error) {
    return (error as Error).message
  }
  return 'fits'
}

test('what a pattern asks for is said in words; the pattern itself only where nobody wrote them', () => {
  expect(refusal(form('^[0-9]{2}$', 'two digits, such as 42'))).toBe(
    '"size" is "x!"; it must be two digits, such as 42.',
  )
  expect(refusal('^[0-9]{3}$')).toBe('"size" is "x!", which does not have the right form: ^[0-9]{3}$.')
})
