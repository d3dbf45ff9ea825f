import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { AuditEvent } from '../../../../../audit/schema'
import type { RequestTrace } from '../../../../../operators/schema'
import type { RequestDetail, RequestRow } from '../../../../../usage/schema'
import { Actions } from '../../shell/actions'
import { useGet, useMay, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { curlOf } from '../../shell/curl'
import { MODES } from '../../shell/modes'
import { Button, Chip, Code, CopyButton, Id, toneOf } from '../../ui/controls'
import { Facts, Lines, Part } from '../../ui/facts'
import { field } from '../../ui/fields'
import { dayOf, duration, money, percent, plural, size, Time, whole } from '../../ui/format'
import { Shown } from '../../ui/states'
import { Trace, Waterfall } from '../../ui/waterfall'
import { Bodies } from './bodies'

export const State = ({ status }: RequestRow) => <Chip state={toneOf(status)}>{status}</Chip>

const AROUND_MS = 600_000
/** How long `GET /requests/{id}` finds a call. */
const TRACE_MS = 92 * 86_400_000
const VERDICTS = { block: 'bad', redact: 'warn', flag: 'warn', allow: 'good' } as const
const TOOL_STATES: Record<string, readonly ['good' | 'warn' | 'bad', string]> = {
  success: ['good', 'worked'],
  error: ['bad', 'failed'],
  awaiting_approval: ['warn', 'waits for approval'],
}
/** Descriptions of what chose the mode. */
const SOURCES: Record<string, string> = {
  explicit: 'the request named it',
  rule: 'a rule of a routing preference',
  heuristic: 'a signal in the words',
  local: 'the words, which are like those of this mode',
  classifier: 'an engine that read the prompt',
  default: 'no signal was strong enough, so the default',
}

/** One call: its time, decisions, cost, and records. */
export function RequestBody({ row }: { row: RequestRow }) {
  const owner = useOwner()
  const trace = useGet<RequestDetail>(`/requests/${row.request_id}`, {}, { off: !row.has_trace })
  const when = Date.parse(row.timestamp)
  // A session's call is recorded under its user, a key's call under the owner who pays.
  const scope = owner.id && row.api_key_id ? 'org' : 'user'
  const mayRead = useMay('viewAudit') || scope === 'user'
  const from = new Date(when - AROUND_MS).toISOString()
  const to = new Date(when + AROUND_MS).toISOString()
  const events = useGet<AuditEvent[]>('/audit', { request_id: row.request_id, scope, from, to }, { off: !mayRead })
  const kept = trace.data?.bodies.request
  return (
    <>
      <div className="actions">
        <CopyButton text={location.href} label="Copy link" />
        <CopyButton text={row.request_id} label="Copy id" />
        <CopyButton text={commandOf(row, kept)} label="Copy as curl" />
        {kept && <Button onClick={() => document.getElementById('bodies')?.scrollIntoView()}>Send it again</Button>}
      </div>
      {trace.data && !kept && (
        <p className="faint">The curl has a placeholder for the prompt, because bodies are not kept.</p>
      )}
      <Part title={`Where the ${duration(row.latency_ms)} went`}>
        {row.has_trace ? (
          <Shown of={trace} rows={3}>
            {({ steps }) => (
              <Waterfall
                total={row.latency_ms}
                steps={steps.map(({ name, at_ms, ms, outcome, facts: found }) => ({
                  name,
                  at: at_ms,
                  ms,
                  isFailed: outcome === 'failed',
                  facts: Object.values(found).filter(Boolean).join(', '),
                }))}
              />
            )}
          </Shown>
        ) : (
          <p className="faint">
            The trace was kept until {dayOf(new Date(when + TRACE_MS).toISOString())}; these are its totals.
          </p>
        )}
      </Part>
      <RowFacts {...row} />
      {trace.data && <Why row={row} of={trace.data} />}
      {trace.data && <Money row={row} of={trace.data} />}
      {trace.data && <Bodies row={row} bodies={trace.data.bodies} />}
      <Part title="Audit events">
        {mayRead ? (
          <Shown of={events} rows={2}>
            {(found) =>
              found.length === 0 ? (
                <p className="faint">None in your chain. Events of an organization are listed under it.</p>
              ) : (
                found.map((event) => (
                  <div key={event.id} className="recorded">
                    <Link href={`/${owner.slug}/audit/${event.id}`}>{event.action}</Link>
                    <Code
                      text={JSON.stringify({ ...event.inputSummary, ...event.outputSummary }, null, 2)}
                      label={event.action}
                    />
                  </div>
                ))
              )
            }
          </Shown>
        ) : (
          <p className="faint">Those of the organization are for owners and admins. Your role here is {owner.role}.</p>
        )}
      </Part>
    </>
  )
}

/** The facts in a request's row. */
function RowFacts(row: RequestRow) {
  const owner = useOwner()
  const link = (section: string, id: string, text: ReactNode = id) => (
    <Link href={`/${owner.slug}/${section}${id}`}>{text}</Link>
  )
  const metadata = Object.entries(row.metadata ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [`Metadata ${name}`, link(`requests?${new URLSearchParams({ metadata: `${name}=${text}` })}`, '', text)]
  })
  return (
    <Facts
      of={{
        Status: <State {...row} />,
        Code: row.code && <a href={`${DOCS}/errors/${row.code}`}>{row.code}</a>,
        Time: <Time at={row.timestamp} />,
        Request: <Id id={row.request_id} />,
        Route: <code>{`${row.method} ${row.endpoint}`}</code>,
        Key: row.api_key_id
          ? link('keys/', row.api_key_id, row.api_key_name ?? row.api_key_id)
          : 'none: called from the console or the terminal',
        Tokens: `${whole(row.prompt_tokens)} in, ${whole(row.completion_tokens)} out`,
        Size: row.has_bodies && `${size(row.bytes_in)} in, ${size(row.bytes_out)} out`,
        Conversation:
          row.conversation_id &&
          link(`requests?conversation_id=${row.conversation_id}`, '', 'all calls of this conversation'),
        ...Object.fromEntries(metadata),
      }}
    />
  )
}

/** The request as an operator sees it: what the processes still remember, and its records. */
export function TraceBody({ row }: { row: RequestRow }) {
  const since = new Date(Date.parse(row.timestamp) - AROUND_MS).toISOString()
  const trace = useGet<RequestTrace>(`/requests/${row.request_id}`, { since })
  return (
    <>
      <RowFacts {...row} />
      <Shown of={trace}>{(found) => <Trace of={found} at={row.timestamp} total={row.latency_ms} />}</Shown>
    </>
  )
}

type PartProps = { row: RequestRow; of: RequestDetail }

/** How mode and engine were chosen, what guardrails found, and which tools were used. */
function Why({ row, of: { routing, guardrails, tools, completion_id, bodies } }: PartProps) {
  const owner = useOwner()
  const prompt = (bodies.request as { prompt?: unknown } | undefined)?.prompt
  return (
    <>
      <Part title="Why this engine">
        <Facts
          of={{
            'Requested mode': row.mode ?? 'none',
            'Mode used': row.resolved_mode ?? 'none',
            'Chosen by': routing ? (SOURCES[routing.source] ?? routing.source) : 'the request named it',
            Confidence: routing?.confidence != null && percent(routing.confidence),
            Because: routing?.reasoning,
            Preference: routing?.preference_id && (
              <Link href={`/${owner.slug}/routing/${routing.preference_id}`}>{routing.preference_id}</Link>
            ),
            Engine: row.model ?? 'none',
            Fallback: row.fallback ? 'yes: the first choice did not answer' : 'no',
            Cached: row.cached ? 'yes: no engine was called' : 'no',
          }}
        />
        {routing?.skipped.map((reason) => (
          <p key={reason} className="faint">
            {reason}
          </p>
        ))}
        {completion_id && /completions$/.test(row.endpoint) && (
          <Actions
            touches={['/routing-corrections']}
            permission="manageWebhooks"
            actions={[
              {
                label: 'Correct the mode…',
                path: '/routing-corrections',
                ask: 'Three corrections of a mode in 30 days let you have a rule suggested under Routing.',
                fields: [
                  field('expected_mode', 'Correct mode', {
                    kind: 'choice',
                    choices: [...MODES, 'vision'].filter((mode) => mode !== row.resolved_mode),
                  }),
                  field('note', 'Note', { kind: 'area' }),
                ],
                body: {
                  completion_id,
                  resolved_mode: row.resolved_mode,
                  ...(typeof prompt === 'string' ? { prompt } : {}),
                },
              },
            ]}
          />
        )}
      </Part>
      <Part title="Guardrails">
        <Lines
          of={guardrails}
          empty="None fired."
          line={({ guardrail_id, phase, verdict, detail }) => ({
            key: `${guardrail_id} ${phase} ${detail}`,
            mark: <Chip state={VERDICTS[verdict as keyof typeof VERDICTS] ?? 'warn'}>{verdict}</Chip>,
            text: `${guardrail_id} ${phase}`.replaceAll('_', ' '),
            small: detail,
          })}
        />
      </Part>
      <Part title="Tools">
        {tools.length === 0 && <p className="faint">None were used.</p>}
        {tools.length > 0 && !bodies.kept && (
          <p>
            {tools.join(', ')} <small>Arguments and results are kept only with bodies.</small>
          </p>
        )}
        {bodies.tools?.map(({ name, status, description, ms, arguments: given, result }, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a tool can have run twice alike, and the list never changes
          <div key={n} className="recorded">
            <p>
              <b>{name}</b> <Chip state={TOOL_STATES[status]?.[0] ?? 'bad'}>{TOOL_STATES[status]?.[1] ?? status}</Chip>{' '}
              {ms !== null && duration(ms)} <small>{description}</small>
            </p>
            <small>Arguments</small>
            <Code text={given} label={`arguments of ${name}`} />
            {result && <small>Result</small>}
            {result && <Code text={result} label={`result of ${name}`} />}
          </div>
        ))}
      </Part>
    </>
  )
}

/** The amount reserved for the call, and the amount charged. */
function Money({ row, of: { money: paid } }: PartProps) {
  const owner = useOwner()
  const tokens = row.prompt_tokens + row.completion_tokens
  const isPriced = paid.charged_cents > 0 && tokens > 0
  return (
    <Part title="Money">
      <Facts
        of={{
          'On hold before': paid.held_cents === null ? 'shared with other calls, or nothing' : money(paid.held_cents),
          Charged: money(paid.charged_cents),
          'Given back': paid.released_cents !== null && money(paid.released_cents),
          'For 1,000 tokens': isPriced && money((paid.charged_cents / tokens) * 1_000),
          Price: !isPriced && (row.cached ? 'none: a cached answer' : `none for ${plural(tokens, 'token')}`),
          Ledger: paid.reference && <Link href={`/${owner.slug}/billing`}>{paid.reference}</Link>,
        }}
      />
    </Part>
  )
}

/** The request body for routes that name the prompt differently. Other routes use `prompt`. */
const BODIES: Record<string, (prompt: string, model: string) => object> = {
  'chat/completions': (content, model) => ({ model, messages: [{ role: 'user', content }] }),
  responses: (input, model) => ({ model, input }),
  messages: (content, model) => ({ model, max_tokens: 1_000, messages: [{ role: 'user', content }] }),
  embeddings: (input, model) => ({ model, input }),
  moderations: (input) => ({ input }),
}

/** The call as a command, without its key. `YOUR PROMPT` replaces a prompt that is not stored. */
function commandOf({ endpoint, mode, model, stream }: RequestRow, kept: object | undefined): string {
  const prompt = 'YOUR PROMPT'
  const given = BODIES[endpoint.slice(1)]?.(prompt, model ?? mode ?? 'svc-1-auto') ?? { prompt, mode }
  const body = kept ?? { ...given, ...(stream ? { stream } : {}) }
  return curlOf(endpoint, body)
}
