import { describe, expect, test } from 'bun:test'
import { isLicense } from '../../src/kernel/license'

describe('an SPDX expression', () => {
  test.each([
    'MIT',
    'mit',
    'Apache-2.0',
    'GPL-3.0',
    'GPL-2.0+',
    'MIT OR Apache-2.0',
    'GPL-2.0-only WITH Classpath-exception-2.0',
    'LicenseRef-Acme',
  ])('%s is valid', (text) => {
    expect(isLicense(text)).toBe(true)
  })

  test.each(['EVIL', '', ' ', 'MIT OR', 'MIT Apache-2.0', 'OR', 'constructor', 'LicenseRef-', 'MIT OR EVIL'])(
    '"%s" is invalid',
    (text) => {
      expect(isLicense(text)).toBe(false)
    },
  )
})
