import { afterAll, expect, test } from 'bun:test'
import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls'
import { createOutbound } from '../../src/kernel/outbound'
import { selfSigned } from '../support/certificate'

const limits = { method: 'POST', body: '{}', maxBytes: 1_000, timeoutMs: 5_000, statusOnly: true } as const
const { fetchPublic } = createOutbound({
  allow: ['127.0.0.0/30'],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
})
const [good, expired, unknown] = [selfSigned(), selfSigned({ until: 2021 }), selfSigned()]
setDefaultCACertificates([...getCACertificates('default'), good.cert, expired.cert])

/** The port of a receiver that says 204 to everyone who accepts its encryption, and how many did. */
async function listen(options: TlsOptions) {
  let accepted = 0
  const server = createServer(options, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      accepted += 1
      socket.end('HTTP/1.1 204 No Content\r\n\r\n')
    })
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  afterAll(() => void server.close())
  return { port: (server.address() as { port: number }).port, accepted: () => accepted }
}

test.each<[string, TlsOptions, string]>([
  ['that has expired', expired, 'localhost'],
  ['that nobody vouches for', unknown, 'localhost'],
  ['of another name', good, 'other.example'],
  ['under an encryption of 1999', { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1' }, 'localhost'],
  ['under an encryption of 2006', { ...good, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }, 'localhost'],
])('a certificate %s is not accepted, and gets nothing (J22)', async (_what, options, name) => {
  const { port, accepted } = await listen(options)
  await expect(fetchPublic(`https://${name}:${port}/`, limits)).rejects.toMatchObject({ kind: 'tls' })
  expect(accepted()).toBe(0)
})

test('a certificate of the name that was asked for is accepted', async () => {
  const { port } = await listen(good)
  expect((await fetchPublic(`https://localhost:${port}/`, limits)).status).toBe(204)
})
