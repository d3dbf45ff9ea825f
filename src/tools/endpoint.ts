import { EventId } from '../events/schema'
import type { Call } from '../kernel/caller'
import { AppError, atField } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'
import { type Outbound, OutboundFailure, type PublicResponse } from '../kernel/outbound'
import { signatureHeaders } from '../kernel/webhook-signature'
import { readHeaders, readMethod } from './endpoint-rules'
import type { InlineTool } from './schema'
import { type ToolContext, ToolFailure } from './tool'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 256 * 1024

export type Endpoint = { url: string; method: 'POST' | 'PUT' | 'PATCH'; headers: Record<string, string> }

type Deps = { outbound: Outbound; secretOf(call: Call): string }
type Input = { name: string; endpoint: Endpoint; args: Record<string, unknown>; context: ToolContext }

/** Checks a tool endpoint's address, method and headers. Throws 400 `validation_error` or `url_blocked`. */
export function readEndpoint(
  endpoint: NonNullable<InlineTool['endpoint']>,
  path: string,
  outbound: Pick<Outbound, 'readUrl'>,
): Endpoint {
  return {
    url: readUrl(endpoint.url, `${path}.url`, outbound),
    method: readMethod(endpoint.method, `${path}.method`),
    headers: readHeaders(endpoint.headers ?? {}, `${path}.headers`),
  }
}

function readUrl(url: string, path: string, outbound: Pick<Outbound, 'readUrl'>): string {
  try {
    outbound.readUrl(url)
    return url
  } catch (error) {
    throw error instanceof AppError ? atField(error, path) : error
  }
}

/**
 * Calls a caller's own endpoint once, signed: sends `{tool, arguments, request_id}` and expects JSON of at most 256 KiB
 * within 10 seconds. Does not follow redirects (docs/api.md 22.5). Throws {@link ToolFailure}.
 */
export async function callEndpoint({ outbound, secretOf }: Deps, { name, endpoint, args, context }: Input) {
  const { call, now, signal } = context
  const body = JSON.stringify({ tool: name, arguments: args, request_id: call.requestId })
  const signature = signatureHeaders({
    id: EventId.create(),
    timestampS: Math.floor(now / 1000),
    body,
    secret: secretOf(call),
  })
  const headers = {
    ...endpoint.headers,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'svc-tools/1',
    ...signature,
  }
  try {
    const { url, method } = endpoint
    const limits = { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, signal }
    return readAnswer(name, await outbound.fetchPublic(url, { method, headers, body, ...limits }))
  } catch (error) {
    if (error instanceof OutboundFailure) throw new ToolFailure(`The endpoint of ${name} failed: ${error.message}.`)
    throw error
  }
}

function readAnswer(name: string, { status, body }: PublicResponse): unknown {
  if (status < 200 || status > 299) {
    throw new ToolFailure(`The endpoint of ${name} answered with status ${status}, which is an error.`)
  }
  if (body.length === 0) return null
  try {
    return parseUntrustedJson(body, { large: 'text' })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new ToolFailure(`The endpoint of ${name} did not answer with JSON that this server can read.`)
  }
}
