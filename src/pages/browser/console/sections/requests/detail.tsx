import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { AuditEvent } from '../../../../../audit/schema'
import type { RequestRow } from '../../../../../usage/schema'
import { useGet, useOwner, useSend } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { handed } from '../../shell/value'
import { Button, Chip, Code, CopyButton, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { duration, money, Time, whole } from '../../ui/format'
import { Ask } from '../../ui/overlay'
import { Failed, Shown } from '../../ui/states'
import { Waterfall } from '../../ui/waterfall'

export function State({ status }: RequestRow) {
  if (status < 400) return <Chip state="good">{status}</Chip>
  return status < 500 ? <Chip state="warn">{status}</Chip> : <Chip state="bad">{status}</Chip>
}

type Replayed = {
  estimate_cents?: number
  content?: string
  choices?: { message: { content: string | null } }[]
}
type Trace = {
  bodies: { kept: boolean; until: string | null; request?: object; response?: string | null }
  steps: { name: string; at_ms: number; ms: number; outcome: string; facts: Record<string, string | null> }[]
}

const AROUND_MS = 600_000

/** One call: where its time went, what was decided, what it cost, and what was recorded of it. */
export function RequestBody({ row }: { row: RequestRow }) {
  const owner = useOwner()
  const trace = useGet<Trace>(`/requests/${row.request_id}`)
  const when = Date.parse(row.timestamp)
  const events = useGet<AuditEvent[]>('/audit', {
    request_id: row.request_id,
    // What a session calls is recorded with its person, what a key calls with who pays.
    scope: owner.id && row.api_key_id ? 'org' : 'user',
    from: new Date(when - AROUND_MS).toISOString(),
    to: new Date(when + AROUND_MS).toISOString(),
  })
  const facts: [string, ReactNode][] = [
    ['Status', <State key="status" {...row} />],
    ...(row.code
      ? [
          [
            'Code',
            <a key="code" href={`${DOCS}/errors/${row.code}`}>
              {row.code}
            </a>,
          ] as [string, ReactNode],
        ]
      : []),
    ['Time', <Time key="time" at={row.timestamp} />],
    ['Request', <Id key="id" id={row.request_id} />],
    ['Route', <code key="route">POST {row.endpoint}</code>],
    ['Mode asked', row.mode ?? 'none'],
    ['Mode used', row.resolved_mode ?? 'none'],
    ['Engine', `${row.model ?? 'none'}${row.fallback ? ', a fallback' : ''}`],
    [
      'Key',
      row.api_key_id ? (
        <Link key="key" href={`/${owner.slug}/keys/${row.api_key_id}`}>
          {row.api_key_id}
        </Link>
      ) : (
        'none: called from the console or the terminal'
      ),
    ],
    ['Tokens', `${whole(row.prompt_tokens)} in, ${whole(row.completion_tokens)} out`],
    ['Cost', money(row.cost_cents)],
    ['Guardrails that fired', whole(row.guardrails)],
    ['Tools used', whole(row.tools)],
    ['Cached', row.cached ? 'yes: nothing was asked of an engine' : 'no'],
  ]
  return (
    <>
      <div className="actions">
        <CopyButton text={location.href} label="Copy link" />
        <CopyButton text={row.request_id} label="Copy id" />
      </div>
      <section aria-labelledby="waterfall">
        <h3 id="waterfall">Where the {duration(row.latency_ms)} went</h3>
        <Shown of={trace} docs={DOCS} rows={3}>
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
      </section>
      <Facts facts={facts} />
      <section aria-labelledby="recorded">
        <h3 id="recorded">Audit events</h3>
        <Shown of={events} docs={DOCS} rows={2}>
          {(found) =>
            found.length === 0 ? (
              <p className="faint">None in your chain. Events of an organization are listed under it.</p>
            ) : (
              found.map((event) => (
                <Code
                  key={event.id}
                  text={JSON.stringify({ ...event.inputSummary, ...event.outputSummary }, null, 2)}
                  label={event.action}
                />
              ))
            )
          }
        </Shown>
      </section>
      {trace.data && <Bodies id={row.request_id} bodies={trace.data.bodies} />}
    </>
  )
}

/** The request and its answer, where they are kept, with the way to send it again. */
function Bodies({ id, bodies: { kept, until, request, response } }: { id: string; bodies: Trace['bodies'] }) {
  const send = useSend<Replayed, { dry_run?: boolean }>('POST', `/requests/${id}/replay`, ['/requests'])
  const owner = useOwner()
  const [, navigate] = useLocation()
  const hand = (where: string) => {
    const { stream: _, ...asked } = request as Record<string, unknown>
    handed.set(asked)
    navigate(`/${owner.slug}/playground${where}`)
  }
  const estimate = send.data?.estimate_cents
  if (!kept)
    return (
      <p className="faint">
        Bodies are not kept. You can switch this on in Settings if the operator of this server allows it.
      </p>
    )
  return (
    <section aria-labelledby="bodies">
      <h3 id="bodies">Body</h3>
      <div className="actions">
        <Button busy={send.isPending} onClick={() => send.mutate({ dry_run: true })}>
          Replay…
        </Button>
        <Button onClick={() => hand('')}>Open in playground</Button>
        <Button onClick={() => hand('/new?tab=tests')}>Make a test case</Button>
      </div>
      {send.error && <Failed problem={send.error} docs={DOCS} />}
      <Code text={JSON.stringify(request, null, 2)} label="request" />
      <Code text={response ?? 'none'} label="answer" />
      {send.data && estimate === undefined && <Code text={textOf(send.data)} label="answer now" />}
      {until && (
        <p className="faint">
          Kept until <Time at={until} />.
        </p>
      )}
      {estimate !== undefined && (
        <Ask
          title="Replay the request"
          verb="Replay"
          busy={send.isPending}
          onClose={() => send.reset()}
          onDo={() => send.mutate({})}
        >
          <p>The request is sent again to the same engine. It costs at most {money(estimate)}.</p>
        </Ask>
      )}
    </section>
  )
}

const textOf = ({ content, choices }: Replayed): string => content ?? choices?.[0]?.message.content ?? ''
