import { expect, test } from 'bun:test'
import { signatureHeaders } from '../../src/kernel/webhook-signature'

const secret = '8f3a1b2c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f10'
const body =
  '{"id":"evt_01","type":"completion.created","created":"2026-01-01T00:00:00.000Z","data":{"_test":true,"message":"hello"}}'

test('both families of headers agree with their published vectors', () => {
  expect(signatureHeaders({ id: 'evt_01', timestampS: 1_767_225_600, body, secret })).toEqual({
    'svc-webhook-id': 'evt_01',
    'svc-webhook-timestamp': '1767225600',
    'svc-webhook-signature': 'v1=acfef3006d4869ce73486ae96eb03eb79e67b60b39ce1b1f090922ffe9dd4169',
    'webhook-id': 'evt_01',
    'webhook-timestamp': '1767225600',
    'webhook-signature': 'v1,MZuaNQbc440RGKRvrx3gJo6SGcMvTCcoHsMsLNcgmCw=',
  })
})

test('a secret of a length Standard Webhooks does not allow signs the own headers only', () => {
  const headers = signatureHeaders({ id: 'evt_01', timestampS: 1, body, secret: 'x'.repeat(16) })
  expect(Object.keys(headers)).toEqual(['svc-webhook-id', 'svc-webhook-timestamp', 'svc-webhook-signature'])
})
