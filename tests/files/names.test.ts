import { expect, test } from 'bun:test'
import { safeFilename } from '../../src/files/service'

test.each([
  ['年度报告.pdf', 'pdf', '年度报告.pdf'],
  ['می\u200cخواهم', 'txt', 'می\u200cخواهم.txt'],
  ['Party 👨‍👩‍👧‍👦', 'pdf', 'Party 👨‍👩‍👧‍👦.pdf'],
  ['क्\u200dष', 'txt', 'क्\u200dष.txt'],
  ['\u200d\u200c a\u202egpj.exe', null, 'agpj.exe'],
  ['a \u200db', 'txt', 'a b.txt'],
  ['../../etc/passwd', null, 'passwd.txt'],
  ['CON', 'txt', '_CON.txt'],
])('%j is the file name %j', (wanted, extension, name) => {
  expect(safeFilename(wanted, extension)).toBe(name)
})

test.each(['a', 'ü', '港', '😀', '👨‍👩‍👧‍👦'])(
  'a name of 300 × %s fits into a file system, and is cut between characters',
  (sign) => {
    const name = safeFilename(sign.repeat(300), 'pdf')
    expect(Buffer.byteLength(name)).toBeLessThan(250)
    expect(name.replaceAll(sign, '')).toBe('….pdf')
  },
)
