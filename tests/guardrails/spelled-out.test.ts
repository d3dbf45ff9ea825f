import { describe, expect, test } from 'bun:test'
import type { GuardrailId } from '../../src/guardrails/guardrail'
import { found, prepared } from './evaluate'

/** What a guardrail finds in a text. */
const textOf = async (id: GuardrailId, text: string, entities?: string[]) =>
  (await found(prepared(id, entities ? { entities } : {}), text)).map(({ start, end }) => text.slice(start, end))

describe('a spoken e-mail address', () => {
  test.each([
    ['write to ada at example dot com please', 'ada at example dot com'],
    ['ada.king [at] mail.example.com', 'ada.king [at] mail.example.com'],
    ['it is ada(at)example(dot)org, thanks', 'ada(at)example(dot)org'],
    ['mi correo: ada arroba ejemplo punto es', 'ada arroba ejemplo punto es'],
    ['ada dot king at example dot co dot uk', 'ada dot king at example dot co dot uk'],
  ])('%s', async (text, wanted) => {
    expect(await textOf('pii', text, ['email'])).toEqual([wanted])
  })

  test.each([
    'find us at example dot com',
    'we meet at example.com',
    'look at the dot on the map',
    'she arrived at noon. Dot was late',
    'f [at] x = 3',
  ])('is not in: %s', async (text) => {
    expect(await textOf('pii', text, ['email'])).toEqual([])
  })
})

describe('a phone number of a country, without a word before it', () => {
  test.each(['06 12 34 56 78', '030 1234567', '07700 900123', '0171/2345678', '(020) 7946 0018'])(
    '%s',
    async (number) => {
      expect(await textOf('pii', `I am there until five, ${number}, or later`, ['phone'])).toEqual([number])
    },
  )

  test.each([
    'order 0123 456 7890',
    'Lottery numbers: 03 11 24 31 42 49',
    'from 01.02.2026 to 03.04.2026',
    '0.123 456 789',
    'id 0123456789',
  ])('is not in: %s', async (text) => {
    expect(await textOf('pii', text, ['phone'])).toEqual([])
  })
})

test.each([
  ['we run 5.9.14.201 since May', []],
  ['the server 5.9.14.201 is down', ['5.9.14.201']],
  ['it came from 192.168.1.14', ['192.168.1.14']],
  ['look at 203.0.113.77', ['203.0.113.77']],
  ['## [1.128.1.0] - 2026-09-02', []],
  ['{"packageVersion":"10.7.31.9","price":3}', []],
  ['AssemblyVersion("1.42.100.33") and <Version>1.42.100.33</Version>', []],
  ['Chrome/96.0.46.10 Safari', []],
  ['from version 1.42.100.33 to 1.42.100.34', []],
  ['wersja 1.42.100.33', []],
  ['firewall rule: 81.2.69.142', ['81.2.69.142']],
  ['server version 5, address 81.2.69.142', ['81.2.69.142']],
])('a version is no address: %s', async (text, wanted) => {
  expect(await textOf('pii', text, ['ip_address'])).toEqual(wanted)
})

describe('a password in a sentence', () => {
  test.each([
    ['the password of the router is now Tr0ub4dor&3x, tell nobody', 'Tr0ub4dor&3x'],
    ['my pw for the wifi went to Kaff33!Haus last week', 'Kaff33!Haus'],
    ['das Passwort vom Drucker lautet jetzt B1ene#Honig.', 'B1ene#Honig'],
  ])('%s', async (text, wanted) => {
    expect(await textOf('secrets', text)).toEqual([wanted])
  })

  test.each([
    'a password wants 8 characters, one of them from !?#$',
    'the password page is https://a.example/x?y=1&z=A2',
    'reset the password of Ada@Example1.com! soon',
    'passwords like these are read by everybody in Room 101',
  ])('is not in: %s', async (text) => {
    expect(await textOf('secrets', text)).toEqual([])
  })
})
