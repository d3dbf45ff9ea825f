import ipaddr from 'ipaddr.js'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { hostOf, type Outbound, OutboundFailure } from '../kernel/outbound'
import { type Signed, signatureHeaders } from '../kernel/webhook-signature'
import { type Answer, type Failure, judge, type Verdict } from './rules'

export type SendDeps = {
  outbound: Outbound
  clock: Clock
  /** Milliseconds before each attempt. */
  schedule: readonly number[]
  /** 0 to 1. */
  random(): number
}
type Input = { url: string; message: Omit<Signed, 'timestampS'>; attempt: number }

/** `signature` is shortened to its ends. */
export type Sent = { httpStatus: number | null; verdict: Verdict; signature: string }

const TIMEOUT_MS = 15_000
/** As much of an answer is read as lets the receiver end it in order; nobody looks at it. */
const MAX_ANSWER_BYTES = 64 * 1024

export type Send = ReturnType<typeof createSend>

/** Makes one attempt, signed anew, and judges what it came to (contract 14.3). */
export function createSend({ outbound, clock, schedule, random }: SendDeps) {
  return async ({ url, message, attempt }: Input): Promise<Sent> => {
    const signed = signatureHeaders({ ...message, timestampS: Math.floor(clock.now() / 1_000) })
    const answer = await post(outbound, url, { body: message.body, signed })
    const verdict = judge(answer, { attempt, schedule, now: clock.now(), random: random() })
    const signature = signed['svc-webhook-signature'] ?? ''
    return { httpStatus: answer.status, verdict, signature: `${signature.slice(0, 7)}…${signature.slice(-4)}` }
  }
}

type Message = { body: string; signed: Record<string, string> }

/** The same bytes each time, never redirected. */
async function post(outbound: Outbound, url: string, { body, signed }: Message): Promise<Answer> {
  try {
    const { status, headers } = await outbound.fetchPublic(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks/1',
        ...signed,
      },
      body,
      statusOnly: true,
      // A receiver may get a delivery twice anyway.
      repeatable: true,
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs: TIMEOUT_MS,
    })
    return { status, retryAfter: headers['retry-after'] ?? null, failure: null }
  } catch (error) {
    return { status: null, retryAfter: null, failure: failureOf(error, url) }
  }
}

function failureOf(error: unknown, url: string): Failure {
  if (error instanceof OutboundFailure)
    return error.kind === 'too-large' || error.kind === 'aborted' ? 'reset' : error.kind
  if (!(error instanceof AppError) || error.code !== 'url_blocked') throw error
  const parsed = URL.parse(url)
  return parsed && ipaddr.isValid(hostOf(parsed)) ? 'never_allowed' : 'not_allowed'
}
