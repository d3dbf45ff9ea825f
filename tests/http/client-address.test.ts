import { describe, expect, test } from 'bun:test'
import { clientAddressOf } from '../../src/app/server'
import { createClientAddress } from '../../src/http/context'

describe('who stands behind a connection', () => {
  test('is the peer, whatever the header says, when no proxy is trusted (C7)', () => {
    expect(createClientAddress([])('198.51.100.7', '203.0.113.9')).toBe('198.51.100.7')
  })

  const behind = createClientAddress(['10.0.0.0/8', 'fd00::/8', '192.0.2.1'])
  test.each([
    ['a peer that is no proxy of ours', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['a proxy that says nothing', '10.0.0.2', null, '10.0.0.2'],
    ['one proxy', '10.0.0.2', '203.0.113.9', '203.0.113.9'],
    ['a proxy under its IPv6 name', '::ffff:10.0.0.2', '203.0.113.9', '203.0.113.9'],
    ['two proxies', '192.0.2.1', '203.0.113.9, 10.1.1.1', '203.0.113.9'],
    ['what the client wrote before the proxy did', '10.0.0.2', '1.2.3.4, 10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['a word that is no address', '10.0.0.2', 'unknown', '10.0.0.2'],
    ['a word before a proxy', '10.0.0.2', 'unknown, 10.0.0.3', '10.0.0.3'],
    ['nothing but proxies', '10.0.0.2', '10.0.0.4, 10.0.0.3', '10.0.0.4'],
    ['an empty header', '10.0.0.2', '', '10.0.0.2'],
    ['an IPv6 client', 'fd00::1', '2001:db8::7', '2001:db8::7'],
  ])('%s', (_, peer, header, client) => {
    expect(behind(peer, header)).toBe(client)
  })

  test('an entry that is no network stops the start and is named', () => {
    expect(() => clientAddressOf({ trustedProxies: '10.0.0.0/8, proxies' })).toThrow(
      'SVC_TRUSTED_PROXIES: "proxies" is not an address or a CIDR',
    )
  })
})
