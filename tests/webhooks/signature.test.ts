import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import { deliverySums, newestDeliveries } from '../../src/webhooks'
import { createWorld, type Person } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const world = await createWorld({ config: LOCAL })
const { make, publish, deliver } = webhooksIn(world)

/** The way a secret is given to verifiers of Standard Webhooks. */
const verifierOf = (secret: string) => new Webhook(`whsec_${Buffer.from(secret).toString('base64')}`)

/** HMAC-SHA256 by the program, in hex; the key as the characters that it is. */
async function openssl(secret: string, message: string): Promise<string> {
  const key = Buffer.from(secret).toString('hex')
  const command = ['openssl', 'dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`]
  const child = Bun.spawn(command, { stdin: new Blob([message]), stdout: 'pipe' })
  const said = await new Response(child.stdout).text()
  return said.trim().split(' ').at(-1)!
}

async function receivedBy(ada: Person, more: object = {}) {
  const receiver = createReceiver()
  const hook = await make(ada, receiver.url, more)
  await publish(ada, 'order.created', { text: 'Grüße, 世界 🌍' })
  await deliver()
  return { ...receiver.got[0]!, secret: hook.signing_secret as string, id: hook.id as string, receiver }
}

describe('a delivery', () => {
  test('is verified by openssl and by the package of Standard Webhooks, and by no other secret', async () => {
    const { headers, body, secret } = await receivedBy(await world.person())
    const signature = await openssl(secret, `${headers['svc-webhook-timestamp']}.${body}`)
    expect(headers['svc-webhook-signature']).toBe(`v1=${signature}`)
    expect(verifierOf(secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => verifierOf(secret).verify(`${body} `, headers)).toThrow()
    expect(() => verifierOf('f'.repeat(64)).verify(body, headers)).toThrow()
    expect(headers['svc-webhook-id']).toBe(JSON.parse(body).id)
  })

  test('is signed with the secret that was chosen', async () => {
    const { headers, body, secret } = await receivedBy(await world.person(), {
      secret: 'my own secret, 30 characters ok',
    })
    expect(secret).toBe('my own secret, 30 characters ok')
    expect(verifierOf(secret).verify(body, headers)).toEqual(JSON.parse(body))
  })

  test('is signed with the new secret at once after a rotation, and with both while there is grace', async () => {
    const ada = await world.person()
    const { id, secret, receiver } = await receivedBy(ada)
    const { body: rotated } = await ada.send('POST', `webhooks/${id}/rotate-secret`)
    await publish(ada)
    await deliver()
    const second = receiver.got[1]!
    expect(() => verifierOf(secret).verify(second.body, second.headers)).toThrow()
    verifierOf(rotated.signing_secret).verify(second.body, second.headers)
    const { body: again } = await ada.send('POST', `webhooks/${id}/rotate-secret`, { grace_seconds: 600 })
    await publish(ada)
    await deliver()
    const third = receiver.got[2]!
    for (const good of [rotated.signing_secret, again.signing_secret])
      verifierOf(good).verify(third.body, third.headers)
    const own = await openssl(again.signing_secret, `${third.headers['svc-webhook-timestamp']}.${third.body}`)
    expect(third.headers['svc-webhook-signature']).toBe(`v1=${own}`)
    // What the dashboard shows of each attempt: which secret signed it, how it begins and ends, and how much was sent.
    const shown = (await newestDeliveries(world.app.container.store.read, 10)).filter(
      ({ webhook_id }) => webhook_id === id,
    )
    expect(shown.map(({ secret_version }) => secret_version)).toEqual([3, 2, 1])
    expect(shown[0]).toMatchObject({
      signature: `v1=${own.slice(0, 4)}…${own.slice(-4)}`,
      bytes: Buffer.byteLength(third.body),
    })
    expect(await deliverySums(world.app.container.store.read, 0)).toMatchObject({ total: 5, ok: 5 })
  })
})

test('our signatures are those of the package, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9a-f]{64}$/), (text, secret) => {
      const body = JSON.stringify({ text })
      const at = new Date(1_767_225_600_000)
      const headers = signatureHeaders({ id: 'evt_1', timestampS: at.getTime() / 1_000, body, secret })
      expect(headers['webhook-signature']).toBe(verifierOf(secret).sign('evt_1', at, body))
    }),
    { numRuns: 1_000 },
  )
}, 120_000)
