import { expect, test } from 'bun:test'
import { systemClock } from '../../src/kernel/clock'
import { createDomains } from '../../src/widgets/service'

const records = new Map<string, string[][]>()
const files = new Map<string, string>()
const verify = createDomains({
  clock: systemClock,
  masterKey: new Uint8Array(32).fill(7),
  txtOf: async (name) => records.get(name) ?? Promise.reject(new Error('ENOTFOUND')),
  outbound: {
    readUrl: (url: string) => new URL(url),
    fetchPublic: async (url: string) => ({
      status: files.has(url) ? 200 : 404,
      body: new TextEncoder().encode(files.get(url) ?? ''),
    }),
  } as never,
})

test('a domain is verified by a TXT record with the value of this widget, and by no other', async () => {
  const request = await verify('one', { domain: 'Shop.Example.' })
  expect(request).toMatchObject({ domain: 'shop.example', verified: false, method: 'dns' })
  expect(request.record.name).toBe('_svc-verify.shop.example')
  // A long record comes in parts, beside those of others.
  const { value } = request.record
  records.set(request.record.name, [['v=spf1 -all'], [value.slice(0, 9), value.slice(9)]])
  expect((await verify('one', { domain: 'shop.example' })).verified).toBe(true)
  expect((await verify('two', { domain: 'shop.example' })).verified).toBe(false)
  expect((await verify('one', { domain: 'www.shop.example' })).verified).toBe(false)
  records.set(request.record.name, [[`${value}x`], [`x${value}`]])
  expect((await verify('one', { domain: 'shop.example' })).verified).toBe(false)
})

test('a name with letters beyond ASCII is looked for as the domain name system has it', async () => {
  const { domain, record } = await verify('one', { domain: 'Bücher.example' })
  expect({ domain, name: record.name }).toEqual({
    domain: 'xn--bcher-kva.example',
    name: '_svc-verify.xn--bcher-kva.example',
  })
})

test('or by a file at its well-known address', async () => {
  const input = { domain: 'shop.example', method: 'file' as const }
  const { record, verified } = await verify('one', input)
  expect(verified).toBe(false)
  expect(record.name).toBe('https://shop.example/.well-known/svc-verify.txt')
  files.set(record.name, `${record.value}\n`)
  expect((await verify('one', input)).verified).toBe(true)
  expect((await verify('two', input)).verified).toBe(false)
  files.set(record.name, `<html>${record.value}</html>`)
  expect((await verify('one', input)).verified).toBe(false)
})

test('what is no name of a host is refused', async () => {
  for (const domain of [
    '',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'a b.example',
    'shop.example:8080',
    'shop.example/x',
    '-a.example',
  ])
    expect({ domain, outcome: await verify('one', { domain }).catch(({ code }) => code) }).toEqual({
      domain,
      outcome: 'validation_error',
    })
})
