import { type ReactNode, useState } from 'react'
import type { OperatorRole } from '../../../../kernel/caller'
import { Button } from '../ui/controls'
import { Ask, Dialog } from '../ui/overlay'
import { Failed } from '../ui/states'
import { type Method, useMay, useOwner, useSend } from './api'
import { mayOperate } from './boot'
import { Form, type FormField } from './form'

/** An action on a row: one call, after a confirmation if necessary. */
type Action = {
  label: string
  method?: Method
  path: string
  /** The body to send. For a form, computed from the filled-in values or merged with them. */
  body?: Record<string, unknown> | ((given: Record<string, unknown>) => Record<string, unknown>)
  danger?: boolean
  /** Effect of the action, shown before it runs. */
  ask?: ReactNode
  /** Text to type before the action runs. */
  typed?: string
  /** Fields of a form to fill in before sending. */
  fields?: readonly FormField[]
  /** Initial values of the form. */
  values?: unknown
  done?(answer: never): void
}

/** Deletes what `path` names, after a confirmation that says what is lost. */
export const deletion = (path: string, ask: ReactNode, done?: () => void, label = 'Delete…'): Action => ({
  ...{ label, method: 'DELETE', path, danger: true, ask },
  ...(done ? { done } : {}),
})

export type ActionsProps = {
  actions: readonly (Action | false | null)[]
  touches: readonly string[]
  permission?: string
  /** For operators: the role that may do it besides the admin. */
  role?: OperatorRole
  /** Controls in front of the buttons. */
  children?: ReactNode
}

/** The operators that have a role, in words. */
export const whoOf = (role: OperatorRole) => `operators with the role ${role === 'admin' ? role : `${role} or admin`}`

/** Buttons for the actions. Without permission, they name who may use them, and destructive ones are hidden. */
export function Actions({ actions, touches, permission, role, children }: ActionsProps) {
  const owner = useOwner()
  const mayHere = useMay(permission ?? '') || permission === undefined
  const may = role === undefined ? mayHere : mayOperate(role)
  const [problem, setProblem] = useState<React.ComponentProps<typeof Failed>['problem'] | null>(null)
  const shown = actions.filter((action) => action !== false && action !== null).filter(({ danger }) => may || !danger)
  if (shown.length === 0) return null
  return (
    <>
      <div className="actions">
        {children}
        {shown.map((action) => (
          <Act key={action.label} action={action} touches={touches} disabled={!may} onProblem={setProblem} />
        ))}
      </div>
      {!may && (
        <p className="faint">
          Your role {owner.role} cannot do this. Ask {role === undefined ? 'an owner or admin' : whoOf(role)}.
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
  onProblem(problem: React.ComponentProps<typeof Failed>['problem'] | null): void
}

function Act({ action, touches, disabled, onProblem }: ActProps) {
  const { label, method = 'POST', path, body, danger, ask, typed, fields, values, done } = action
  const send = useSend<unknown, object | undefined>(method, path, touches)
  const [isAsked, setAsked] = useState(false)
  const act = () => {
    onProblem(null)
    send.mutate(typeof body === 'function' ? body({}) : body, {
      onSuccess: (answer) => done?.(answer as never),
      onError: onProblem,
      onSettled: () => setAsked(false),
    })
  }
  const verb = label.replace(/…$/, '')
  return (
    <>
      <Button
        kind={danger ? 'danger' : 'quiet'}
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
            verb={verb}
            more={body}
            onCancel={() => setAsked(false)}
            onDone={(answer) => {
              setAsked(false)
              done?.(answer as never)
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
