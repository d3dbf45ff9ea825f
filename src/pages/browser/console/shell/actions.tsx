import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { OperatorRole } from '../../../../kernel/caller'
import { Button } from '../ui/controls'
import type { FormField } from '../ui/fields'
import { Ask, Dialog } from '../ui/overlay'
import { Failed, type Problem } from '../ui/states'
import { type Method, useOwner, useSend } from './api'
import { mayOperate } from './boot'
import { Form } from './form'
import { NoRight } from './no-right'

/** An action on a row: one call, after a confirmation if necessary. */
export type Action = {
  label: string
  /** What the button of its dialog says. Default: the label. */
  verb?: string
  method?: Method
  path: string
  /** The body to send. For a form, computed from the filled-in values or merged with them. */
  body?: Record<string, unknown> | ((given: Record<string, unknown>) => Record<string, unknown>)
  danger?: boolean
  /** True for what most readers come for. */
  isMain?: boolean
  /** The operator role that it needs in place of that of the others, or `free` for everybody. */
  needs?: OperatorRole | 'free'
  /** Effect of the action, shown before it runs. */
  ask?: ReactNode
  /** Text to type before the action runs. */
  typed?: string
  /** Fields of a form to fill in before sending. */
  fields?: readonly FormField[]
  /** Initial values of the form. */
  values?: unknown
  done?(answer: never): void
  /** What the answer brings to read, such as a link that is shown once. */
  shows?(answer: never): ReactNode
}

/** Deletes what `path` names, after a confirmation that says what is lost. */
export const deletion = (path: string, ask: ReactNode, done?: () => void, label = 'Delete…'): Action => ({
  ...{ label, method: 'DELETE', path, danger: true, ask },
  ...(done ? { done } : {}),
})

export type ActionsProps = {
  actions: readonly (Action | false | null)[]
  touches: readonly string[]
  permission?: string | undefined
  /** For operators: the role that may do it besides the admin. */
  role?: OperatorRole | undefined
  /** Controls in front of the buttons. */
  children?: ReactNode
}

/** What the button of an action and its dialog say. */
export const verbOf = (label: string) => label.replace(/…$/, '')

/** Whether the reader may do an action, by what its list asks for. */
export function useMayAct() {
  const { permissions } = useOwner()
  return ({ permission, role }: Pick<ActionsProps, 'permission' | 'role'>, { needs }: Pick<Action, 'needs'>) => {
    if (needs) return needs === 'free' || mayOperate(needs)
    return role === undefined ? permission === undefined || permissions.includes(permission) : mayOperate(role)
  }
}

/** Buttons for the actions. Without permission, they name who may use them, and destructive ones are hidden. */
export function Actions({ actions, touches, permission, role, children }: ActionsProps) {
  const mayAct = useMayAct()
  const may = (action: Action) => mayAct({ permission, role }, action)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [answer, setAnswer] = useState<ReactNode>(null)
  const shown = actions
    .filter((action) => action !== false && action !== null)
    .filter((action) => may(action) || !action.danger)
  if (shown.length === 0) return null
  const refused = shown.find((action) => !may(action))
  const asked = refused?.needs ?? role
  return (
    <>
      <div className="actions">
        {children}
        {shown.map((action) => (
          <Act
            key={action.label}
            action={action}
            touches={touches}
            disabled={!may(action)}
            onProblem={setProblem}
            onAnswer={setAnswer}
          />
        ))}
      </div>
      {answer}
      {refused && <NoRight role={asked === 'free' ? undefined : asked} />}
      {problem && <Failed problem={problem} />}
    </>
  )
}

type ActProps = {
  action: Action
  touches: readonly string[]
  onProblem(problem: Problem | null): void
  onAnswer(answer: ReactNode): void
}

function Act({ disabled, ...of }: ActProps & { disabled: boolean }) {
  const { label, danger, isMain, ask, fields } = of.action
  const [isDoing, setDoing] = useState(false)
  return (
    <>
      <Button
        kind={danger ? 'danger' : isMain ? 'primary' : 'quiet'}
        busy={isDoing && !ask && !fields}
        disabled={disabled}
        onClick={() => setDoing(true)}
      >
        {label}
      </Button>
      {isDoing && <Doing {...of} onEnd={() => setDoing(false)} />}
    </>
  )
}

/** Does an action, at once or when its dialog is confirmed. */
export function Doing({ action, touches, onProblem, onAnswer, onEnd }: ActProps & { onEnd(): void }) {
  const { label, method = 'POST', path, body, danger, ask, typed, fields, values, done, shows } = action
  const send = useSend<unknown, object | undefined>(method, path, touches)
  const take = (answer: unknown) => {
    onAnswer(shows?.(answer as never))
    done?.(answer as never)
  }
  const act = () => {
    onProblem(null)
    send.mutate(typeof body === 'function' ? body({}) : body, { onSuccess: take, onError: onProblem, onSettled: onEnd })
  }
  const isSent = useRef(false)
  useEffect(() => {
    // An action without a dialog is sent once, when it is chosen. Effects may run again.
    if (ask || fields || isSent.current) return
    isSent.current = true
    act()
  })
  const verb = verbOf(label)
  if (fields)
    return (
      <Dialog title={verb} onClose={onEnd}>
        {ask && <p>{ask}</p>}
        <Form
          fields={fields}
          values={values}
          method={method}
          path={path}
          touches={touches}
          verb={action.verb ?? verb}
          more={body}
          onCancel={onEnd}
          onDone={(answer) => {
            onEnd()
            take(answer)
          }}
        />
      </Dialog>
    )
  return (
    ask && (
      <Ask
        title={verb}
        verb={verb}
        danger={danger ?? false}
        busy={send.isPending}
        onClose={onEnd}
        onDo={act}
        {...(typed === undefined ? {} : { typed })}
      >
        <p>{ask}</p>
      </Ask>
    )
  )
}
