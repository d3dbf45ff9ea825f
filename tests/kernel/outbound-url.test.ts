import { expect, test } from 'bun:test'
import { createOutbound } from '../../src/kernel/outbound'

const outbound = createOutbound({ ownHosts: ['api.example.com', 'box.example.com:3400'], deny: ['203.0.114.0/24'] })

/** Catalogue J: every text here must be refused before anything is looked up or connected. */
const REFUSED: Record<string, string[]> = {
  'J1 this machine by name or number': `
    http://127.0.0.1:9999/ http://localhost:9999 http://localhost. http://LOCALHOST http://foo.localhost http://0/
    http://0.0.0.0:9999 http://127.1 http://127.255.255.254
  `
    .trim()
    .split(/\s+/),
  'J4 other ways to write a number': [
    'http://2130706433/',
    'http://0x7f000001',
    'http://0177.0.0.1',
    'http://0x7f.0.0.0x1',
    'http://127.1',
  ],
  'J5 digits and dots in disguise': [
    'http://①②⑦.0.0.1/',
    'http://127。0。0。1',
    'http://%31%32%37.0.0.1/',
    'http://127.0.0\u00ad.1/',
  ],
  'J6 private and special networks': `
    http://10.0.0.1 http://172.16.0.1 http://192.168.1.1 http://169.254.169.254/latest/meta-data/ http://100.64.0.1
    http://192.0.0.1 http://198.18.0.1 http://224.0.0.1 http://240.0.0.1 http://255.255.255.255 http://168.63.129.16
    http://203.0.114.7
  `
    .trim()
    .split(/\s+/),
  'J7 IPv6 of this machine and its neighbours': `
    http://[::1] http://[::] http://[0:0:0:0:0:0:0:1] http://[fe80::1] http://[fc00::1] http://[fec0::1]
    http://[ff02::1]
  `
    .trim()
    .split(/\s+/),
  'J8 IPv4 inside IPv6': [
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[::127.0.0.1]',
  ],
  'J10 translation, tunnels and documentation': `
    http://[64:ff9b::7f00:1] http://[64:ff9b:1::7f00:1] http://[2002:7f00:1::] http://[2001:0:1::] http://[5f00::1]
    http://[100::1] http://[2001:db8::1] http://[3fff::1]
  `
    .trim()
    .split(/\s+/),
  'J17 schemes': [
    'file:///etc/passwd',
    'ftp://example.com',
    'gopher://example.com',
    'data:text/plain,x',
    'blob:https://example.com/1',
    'unix:/run/x.sock',
    's3://bucket/key',
    'javascript:alert(1)',
    'ws://example.com',
    '//example.com',
    'http:127.0.0.1',
    'http:/127.0.0.1',
    'http:\\\\127.0.0.1',
  ],
  'J19 ports and this server itself (J31)': `
    http://example.com:0/ http://example.com:22/ http://example.com:25/ http://example.com:6379/
    http://example.com:5432/ http://example.com:9222/ http://example.com:65536/ https://api.example.com/api/v1/events
    http://box.example.com:3400/
  `
    .trim()
    .split(/\s+/),
  'J20 malformed': [
    `https://example.com/${'a'.repeat(2049)}`,
    'https://example.com/#fragment',
    'https://exam\tple.com/',
    'https://example.com/\u0000',
    'https://example.com/\r\nx: y',
    'https://example.com./',
    'https:///',
    'https://',
    'https://xn--/',
    'http://intranet/',
    'https://printer.local/',
  ],
  'J16 a user name in the address': [
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://:x@example.com',
  ],
}

for (const [why, urls] of Object.entries(REFUSED)) {
  test.each(urls)(`${why}: %j is refused`, (url) => {
    expect(() => outbound.readUrl(url)).toThrow(expect.objectContaining({ kind: 'invalid', code: 'url_blocked' }))
  })
}

test.each([
  'https://example.com/hook',
  ' https://example.com/hook\n',
  'http://example.com:8080/hook?a=b',
  'https://93.184.215.14/',
  'https://[2606:4700::1111]/',
  'https://bücher.example/',
  'https://example.com/%7B%7Benv.KEY%7D%7D',
])('%s is a public address', (url) => {
  expect(outbound.readUrl(url).protocol).toMatch(/^https?:$/)
})

test('in production only https is called (J23)', () => {
  const strict = createOutbound({ httpsOnly: true })
  expect(() => strict.readUrl('http://example.com')).toThrow('https addresses only')
  expect(strict.readUrl('https://example.com').host).toBe('example.com')
})

test('a network on the allow list is exempt, its neighbour is not', () => {
  const lab = createOutbound({ allow: ['127.0.0.0/8', 'fd00::/8'] })
  expect(lab.readUrl('http://127.0.0.1:9999/').port).toBe('9999')
  expect(lab.readUrl('http://[fd00::1]/').hostname).toBe('[fd00::1]')
  expect(() => lab.readUrl('http://10.0.0.1/')).toThrow('not a public address')
})

test('an invalid network on the allow list is named in the error', () => {
  expect(() => createOutbound({ allow: ['10.0.0.0/33'] })).toThrow('"10.0.0.0/33"')
})
