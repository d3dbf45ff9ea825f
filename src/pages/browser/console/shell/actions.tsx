import { type ReactNode, useState } from 'react'
import type { OperatorRole } from '../../../../kernel/caller'
import { Button } from '../ui/controls'
import type { FormField } from '../ui/fields'
import { Ask, Dialog } from '../ui/overlay'
import { Failed, type Problem } from '../ui/states'
import { type Method, useOwner, useSend } from './api'
import { mayOperate } from './boot'
import { Form } from './form'

/** An action on a row: one call, after a confirmation if necessary. */
type Action = {
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

/** The operators that have a role, in words. */
export const whoOf = (role: OperatorRole) => `operators with the role ${role === 'admin' ? role : `${role} or admin`}`

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
  const owner = useOwner()
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
      {refused && (
        <p className="faint">
          Your role {owner.role} cannot do this. Ask {!asked || asked === 'free' ? 'an owner or admin' : whoOf(asked)}.
        </p>
      )}
      {problem && <Failed problem={problem} />}
    </>
  )
}

type ActProps = {
  action: Action
  touches: readonly string[]
  disabled: boolean
  onProblem(problem: Problem | null): void
  onAnswer(answer: ReactNode): void
}

function Act({ action, touches, disabled, onProblem, onAnswer }: ActProps) {
  const { label, method = 'POST', path, body, danger, isMain, ask, typed, fields, values, done, shows } = action
  const send = useSend<unknown, object | undefined>(method, path, touches)
  const [isAsked, setAsked] = useState(false)
  const take = (answer: unknown) => {
    onAnswer(shows?.(answer as never))
    done?.(answer as never)
  }
  const act = () => {
    onProblem(null)
    send.mutate(typeof body === 'function' ? body({}) : body, {
      onSuccess: take,
      onError: onProblem,
      onSettled: () => setAsked(false),
    })
  }
  const verb = verbOf(label)
  return (
    <>
      <Button
        kind={danger ? 'danger' : isMain ? 'primary' : 'quiet'}
        busy={send.isPending}
        disabled={disabled}
        onClick={() => (ask || fields ? setAsked(true) : act())}
      >
        {label}
      </Button>
      {isAsked && fields && (
        <Dialog title={verb} onClose={() => setAsked(false)}>
          {ask && <p>{ask}</p>}
          <Form
            fields={fields}
            values={values}
            method={method}
            path={path}
            touches={touches}
            verb={action.verb ?? verb}
            more={body}
            onCancel={() => setAsked(false)}
            onDone={(answer) => {
              setAsked(false)
              take(answer)
            }}
          />
        </Dialog>
      )}
      {isAsked && !fields && (
        <Ask
          title={verb}
          verb={verb}
          danger={danger ?? false}
          busy={send.isPending}
          onClose={() => setAsked(false)}
          onDo={act}
          {...(typed === undefined ? {} : { typed })}
        >
          <p>{ask}</p>
        </Ask>
      )}
    </>
  )
}
