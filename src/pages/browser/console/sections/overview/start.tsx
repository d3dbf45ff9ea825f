import { Link } from 'wouter'
import type { ApiKeyWithSecret } from '../../../../../accounts/keys/schema'
import type { Completion } from '../../../../../completions/schema'
import type { ModelList } from '../../../../../engines/schema'
import { useGet, useMay, useOwner, useSend } from '../../shell/api'
import { DOCS, mayOperate } from '../../shell/boot'
import { curlOf, FIRST_CALL } from '../../shell/curl'
import { Button, Code, CopyButton } from '../../ui/controls'
import { money, plural } from '../../ui/format'
import { Failed } from '../../ui/states'

const { prompt } = FIRST_CALL

/** The first steps of an owner without calls. A step counts as done by the server's data, not by clicks. */
export function Start({ isCalled, onDone }: { isCalled: boolean; onDone(): void }) {
  const owner = useOwner()
  const mayMakeKeys = useMay('manageApiKeys')
  const models = useGet<ModelList>('/models')
  const key = useSend<ApiKeyWithSecret, object>('POST', '/keys', ['/keys'])
  const run = useSend<Completion, object>('POST', '/completions', ['/requests', '/usage'])
  const available = models.data?.models.filter(({ status }) => status === 'available') ?? []
  return (
    <ol className="steps">
      <Step number={1} title="Connect a model" isDone={available.length > 0}>
        <p>
          {available.length > 0
            ? `${plural(available.length, 'engine')} can answer already. `
            : 'Nothing answers yet. '}
          Until a language model is connected, the built-in engine answers: it calculates and works on the text you
          send.
        </p>
        {mayOperate('admin') ? (
          <div className="actions">
            <Link className="button quiet" href="/all/engines/new">
              Connect a model
            </Link>
          </div>
        ) : (
          <p>An operator of this server connects one:</p>
        )}
        <Code text="svc-admin engines add NAME --base-url URL --models MODEL" label="command that connects an engine" />
      </Step>
      <Step number={2} title="Your first call" isDone={isCalled || run.isSuccess}>
        <p>Press Run, or call from your own program with a key.</p>
        <div className="actions">
          <Button kind="primary" busy={run.isPending} onClick={() => run.mutate({ prompt })}>
            Run “{prompt}”
          </Button>
          {mayMakeKeys && !key.data && (
            <Button
              busy={key.isPending}
              onClick={() =>
                key.mutate({
                  name: 'First key',
                  scope: owner.id ? 'org' : 'personal',
                  ...(owner.id ? { org_id: owner.id } : {}),
                })
              }
            >
              Create a key
            </Button>
          )}
          {key.data && <CopyButton text={key.data.key} label="Copy the key" />}
        </div>
        {key.data && (
          <p className="notice good" role="status">
            The key “{key.data.name}” is in the command below. It is shown only now: store it.
          </p>
        )}
        <Code text={curlOf('/completions', FIRST_CALL, undefined, key.data?.key)} label="first call" />
        {(run.error ?? key.error) && <Failed problem={(run.error ?? key.error)!} />}
        {run.data && (
          <div className="notice" role="status">
            <p>{run.data.content}</p>
            <small>
              {run.data.model.id}, {plural(run.data.usage.total_tokens, 'token')}, {money(run.data.usage.cost_cents)}.{' '}
              <Link href={`/${owner.slug}/requests/${run.data.request_id}`}>See its trace</Link>
            </small>
          </div>
        )}
      </Step>
      <Step number={3} title="Go on" isDone={false}>
        <p>Compare engines, and take over the code that a prompt makes.</p>
        <div className="actions">
          <Link className="button quiet" href={`/${owner.slug}/playground`}>
            Open the playground
          </Link>
          <a className="button quiet" href={DOCS}>
            Read the reference
          </a>
          <Button onClick={onDone}>Show the overview</Button>
        </div>
      </Step>
    </ol>
  )
}

type StepProps = { number: number; title: string; isDone: boolean; children: React.ReactNode }

const Step = ({ number, title, isDone, children }: StepProps) => (
  <li className="card">
    <span className={isDone ? 'step-mark done' : 'step-mark'} aria-hidden="true">
      {isDone ? '✓' : number}
    </span>
    <h2>
      {title}
      {isDone && <span className="hidden"> (done)</span>}
    </h2>
    {children}
  </li>
)
