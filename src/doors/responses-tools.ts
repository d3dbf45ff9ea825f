import type { ChatInput } from '../completions/schema'
import { invalidInput, messageOf } from '../kernel/errors'
import { checker } from '../kernel/schema'
import { McpServer } from '../tools/schema'
import type { Item, ResponseInput } from './responses-schema'

/** What a call of a function comes back as: a call of a custom tool, or of a function of a namespace. */
export type ToolKinds = ReadonlyMap<string, { custom: boolean; namespace: string | null }>

type Choice = NonNullable<ChatInput['tool_choice']>
type Tool = NonNullable<ChatInput['tools']>[number]
type Named = { path: string; tool: Tool; kind: { custom: boolean; namespace: string | null } }

const NAME = /^[A-Za-z0-9_-]{1,64}$/
const server = checker(McpServer)

/**
 * The tools of a response as functions (contract 29.5). A kind that this server does not have is left out with a
 * warning. Throws 400 `validation_error` where `tool_choice` then asks for what is not there.
 */
export function readTools({ tools, tool_choice: choice }: ResponseInput) {
  const warnings: string[] = []
  const leftOut = new Set<string>()
  const named = (tools ?? []).flatMap((tool, at) => toolsIn(tool, `tools[${at}]`, null, leftOut, warnings))
  if (leftOut.size)
    warnings.push(`These tools were left out, because this server does not have them: ${[...leftOut].join(', ')}.`)
  const offered = named.map(({ tool }) => tool)
  return {
    tools: offered,
    choice: chosen(choice ?? 'auto', named, leftOut),
    kinds: new Map(
      named.flatMap(({ tool, kind }) => (tool.type === 'function' ? [[tool.function.name, kind] as const] : [])),
    ),
    /** Where each tool is in the body. */
    places: named.map(({ path }) => path),
    warnings,
  }
}

function toolsIn(
  tool: Item,
  path: string,
  namespace: string | null,
  leftOut: Set<string>,
  warnings: string[],
): Named[] {
  switch (tool.type) {
    case 'function': {
      const { parameters, strict } = tool
      if (parameters != null && (typeof parameters !== 'object' || Array.isArray(parameters)))
        throw invalidInput(
          `${path}.parameters`,
          `"${path}.parameters" is ${messageOf(parameters)}; it must be a JSON Schema.`,
        )
      return [
        {
          path,
          kind: { custom: false, namespace },
          tool: {
            type: 'function',
            function: {
              name: nameIn(tool, path),
              description: descriptionIn(tool),
              parameters: parameters as Record<string, unknown> | null | undefined,
              strict: typeof strict === 'boolean' ? strict : null,
            },
          },
        },
      ]
    }
    case 'custom': {
      const format = tool.format as Item | null | undefined
      const grammar = format?.type === 'grammar' ? format : null
      if (grammar)
        warnings.push(`The grammar of ${messageOf(tool.name)} was described to the engine; it is not enforced.`)
      const description = [
        descriptionIn(tool),
        grammar && `The input follows this ${String(grammar.syntax)} grammar: ${String(grammar.definition)}`,
      ]
      return [
        {
          path,
          kind: { custom: true, namespace },
          tool: {
            type: 'function',
            function: {
              name: nameIn(tool, path),
              description: description.filter(Boolean).join('\n').slice(0, 32_768),
              parameters: { type: 'object', required: ['input'], properties: { input: { type: 'string' } } },
            },
          },
        },
      ]
    }
    case 'namespace': {
      const inside = Array.isArray(tool.tools) ? (tool.tools as Item[]) : []
      return inside.flatMap((one, at) => toolsIn(one, `${path}.tools[${at}]`, String(tool.name), leftOut, warnings))
    }
    case 'mcp': {
      if (tool.connector_id != null)
        throw invalidInput(`${path}.connector_id`, `"${path}.connector_id" is not supported. Send "server_url".`)
      if (!server.is(tool)) {
        const [issue] = server.issues(tool)
        throw invalidInput(
          `${path}.${issue?.path ?? ''}`,
          `"${path}" is no MCP server: ${issue?.message ?? 'it does not fit'}.`,
        )
      }
      return [{ path, kind: { custom: false, namespace: null }, tool }]
    }
    default:
      leftOut.add(String(tool.type).slice(0, 64))
      return []
  }
}

function nameIn({ name }: Item, path: string): string {
  if (typeof name === 'string' && NAME.test(name)) return name
  throw invalidInput(
    `${path}.name`,
    `"${path}.name" is ${messageOf(name)}; it must be at most 64 letters, digits, hyphens and underscores.`,
  )
}

const descriptionIn = ({ description }: Item): string =>
  typeof description === 'string' ? description.slice(0, 32_768) : ''

/** `tool_choice` in the form of chat completions. Throws 400 where it asks for a tool that is not offered. */
function chosen(
  choice: NonNullable<ResponseInput['tool_choice']>,
  named: readonly Named[],
  leftOut: ReadonlySet<string>,
): Choice {
  if (choice === 'required' && !named.length)
    throw invalidInput('tool_choice', '"tool_choice" is "required", and none of "tools" can be offered.')
  if (typeof choice === 'string') return choice as Choice
  const one = (tool: Item) => ({ type: 'function' as const, function: { name: String(tool.name) } })
  switch (choice.type) {
    case 'function':
    case 'custom': {
      assertOffered(String(choice.name), named)
      return one(choice)
    }
    case 'allowed_tools': {
      const listed = (Array.isArray(choice.tools) ? (choice.tools as Item[]) : []).filter(
        ({ name }) => name !== undefined,
      )
      for (const { name } of listed) assertOffered(String(name), named)
      const mode = choice.mode === 'required' ? 'required' : 'auto'
      return listed.length ? { type: 'allowed_tools', allowed_tools: { mode, tools: listed.map(one) } } : mode
    }
    default: {
      const type = String(choice.type)
      if (leftOut.has(type) || !named.length)
        throw invalidInput('tool_choice', `"tool_choice" names ${messageOf(type)}, which this server does not have.`)
      return 'auto'
    }
  }
}

function assertOffered(name: string, named: readonly Named[]): void {
  const isKnown = named.some(({ tool }) =>
    tool.type === 'function' ? tool.function.name === name : name.startsWith(`${tool.server_label}__`),
  )
  if (!isKnown) throw invalidInput('tool_choice', `"tool_choice" names ${messageOf(name)}, which is not among "tools".`)
}
