import { type Mail, MailFailure } from '../../../cluster'
import type { FanOut } from '../../../events'
import { EventId } from '../../../events/schema'
import type { Call } from '../../../kernel/caller'
import type { Clock } from '../../../kernel/clock'
import { type Outbound, OutboundFailure } from '../../../kernel/outbound'
import type { Tx } from '../../../kernel/store'
import { signatureHeaders } from '../../../kernel/webhook-signature'
import { NOTIFICATION } from '../events'
import { recipientsOf } from '../review'
import { type Doing, StepFailure, type StepRunner } from './step'

type Deps = {
  mail: Mail
  outbound: Outbound
  clock: Clock
  fanOut: Pick<FanOut, 'publish'>
  secretOf(call: Call): string
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 64 * 1024

/** Tells somebody: by e-mail, by a signed POST, or on the bus, where who watches it shows it (contract 10). */
export function createNotificationStep({ mail, outbound, clock, fanOut, secretOf }: Deps): StepRunner<'notification'> {
  return (doing) => {
    if (doing.config.channel === 'email') return byMail(doing)
    return doing.config.channel === 'webhook' ? byWebhook(doing) : inApp(doing)
  }

  async function byMail({ config, previous, key, call }: Doing<'notification'>) {
    const to = recipientsOf(config.to)
    if (!to) throw new StepFailure('"to" is not a list of e-mail addresses.')
    try {
      const text = config.body ?? previous
      await mail.send({ to, subject: config.subject ?? 'Notification', text, key, signal: call.signal })
    } catch (error) {
      throw error instanceof MailFailure ? new StepFailure(error.message) : error
    }
    return { output: { delivered: true } }
  }

  async function byWebhook({ config, previous, run, key, call }: Doing<'notification'>) {
    const { subject = null, body = previous } = config
    const text = JSON.stringify({ subject, body, workflow_id: run.workflow_id, run_id: run.id })
    const signature = signatureHeaders({
      id: EventId.create(),
      timestampS: Math.floor(clock.now() / 1_000),
      body: text,
      secret: secretOf(call),
    })
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'svc-workflows/1',
      'idempotency-key': key,
      ...signature,
    }
    const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal: call.signal }
    try {
      const { status } = await outbound.fetchPublic(config.to, { method: 'POST', headers, body: text, ...limits })
      if (status < 200 || status > 299) throw new StepFailure(`The address answered with status ${status}.`)
    } catch (error) {
      if (error instanceof OutboundFailure && error.kind !== 'aborted')
        throw new StepFailure(`The call failed: ${error.message}.`)
      throw error
    }
    return { output: { delivered: true } }
  }

  /** Stored whether or not anyone is subscribed: `GET /events` is where it is read. */
  async function inApp({ config, previous, run }: Doing<'notification'>) {
    const { to, subject = null, body = previous } = config
    const value = { to, subject, body, workflow_id: run.workflow_id, run_id: run.id }
    const about = { id: EventId.create(), type: NOTIFICATION, scope: run.owner, created: clock.now() }
    const event = { ...about, data: { value }, depth: run.depth + 1 }
    return { output: { delivered: true }, effects: (tx: Tx) => fanOut.publish(tx, event, 'workflow') }
  }
}
