import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import type { ModelEntry } from '../../../../../engines/schema'
import type { RequestDetail, RequestRow } from '../../../../../usage/schema'
import { useGet, useOwner, useSend } from '../../shell/api'
import { handed } from '../../shell/value'
import { Button, Code, Select } from '../../ui/controls'
import { Part } from '../../ui/facts'
import { duration, money, Time } from '../../ui/format'
import { Ask } from '../../ui/overlay'
import { Failed } from '../../ui/states'

type Replayed = {
  estimate_cents?: number
  content?: string
  choices?: { message: { content: string | null } }[]
  model?: string | { id: string }
  resolved_mode?: string
  usage?: { cost_cents?: number }
}
type Again = { model?: string; dry_run?: boolean }

type Props = { row: RequestRow; bodies: RequestDetail['bodies'] }

/** The request and its answer, if they are stored, with a link to repeat it. */
export function Bodies({ row, bodies: { kept, until, request, response } }: Props) {
  const owner = useOwner()
  const [, navigate] = useLocation()
  const [engine, setEngine] = useState('')
  const [tookMs, setTookMs] = useState(0)
  const send = useSend<Replayed, Again>('POST', `/requests/${row.request_id}/replay`, ['/requests'])
  const models = useGet<{ models: ModelEntry[] }>('/models', {}, { off: !kept })
  const engines = [...new Set(models.data?.models.map(({ model_id }) => model_id))]
  const chosen = engine ? { model: engine } : {}
  const hand = (where: string) => {
    const { stream: _, ...asked } = request as Record<string, unknown>
    handed.set(asked)
    navigate(`/${owner.slug}/playground${where}`)
  }
  const replay = () => {
    const begun = performance.now()
    send.mutate(chosen, { onSettled: () => setTookMs(performance.now() - begun) })
  }
  if (!kept)
    return (
      <Part title="Body" id="bodies">
        <p className="faint">
          Bodies are not kept. You can switch this on in Settings if the operator of this server allows it.
        </p>
      </Part>
    )
  const estimate = send.data?.estimate_cents
  const now = send.data && estimate === undefined ? send.data : null
  const model = typeof now?.model === 'string' ? now.model : (now?.model?.id ?? 'no engine')
  return (
    <Part title="Body" id="bodies">
      <Code text={JSON.stringify(request, null, 2)} label="request" />
      {!now && <Code text={response ?? 'none'} label="answer" />}
      {now && (
        <div className="pair side-by-side">
          <Answer
            name="Then"
            text={response ?? ''}
            facts={[row.model ?? 'no engine', duration(row.latency_ms), money(row.cost_cents)]}
          />
          <Answer
            name="Now"
            text={now.content ?? now.choices?.[0]?.message.content ?? ''}
            facts={[model, duration(tookMs), money(now.usage?.cost_cents ?? 0)]}
          />
        </div>
      )}
      {send.error && <Failed problem={send.error} />}
      <Select
        label="Send it again to"
        value={engine}
        choices={[['', 'the engine that it chooses'], ...engines.map((id) => [id, id] as const)]}
        onChange={setEngine}
      />
      <div className="actions">
        <Button busy={send.isPending} onClick={() => send.mutate({ ...chosen, dry_run: true })}>
          Replay…
        </Button>
        <Button onClick={() => hand('')}>Open in playground</Button>
        <Button onClick={() => hand('/new?tab=tests')}>Make a test case</Button>
      </div>
      {until && (
        <p className="faint">
          Kept until <Time at={until} />.
        </p>
      )}
      {estimate !== undefined && (
        <Ask title="Replay the request" verb="Replay" busy={send.isPending} onClose={() => send.reset()} onDo={replay}>
          <p>
            The request is sent again{engine ? ` to ${engine}` : ''}. It costs at most {money(estimate)}. Both answers
            are shown side by side.
          </p>
        </Ask>
      )}
    </Part>
  )
}

const Answer = ({ name, text, facts }: { name: string; text: string; facts: ReactNode[] }) => (
  <div>
    <h4>{name}</h4>
    <p className="faint">{facts.join(' · ')}</p>
    <Code text={text || 'none'} label={`answer ${name.toLowerCase()}`} />
  </div>
)
