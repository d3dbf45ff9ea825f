import { describe, expect, test } from 'bun:test'
import { type Expression, ExpressionFault, parseExpression, pathsOf } from '../../src/text/expression'
import { effortOf } from '../support/effort'

/** An expression as parsed, with all brackets written out. */
function notify(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return JSON.stringify(expression.value)
    case 'path':
      return expression.path.join('.')
    case 'not':
      return `!${notify(expression.of)}`
    default:
      return `(${notify(expression.left)} ${expression.op} ${notify(expression.right)})`
  }
}

describe('an expression (docs/api.md 10)', () => {
  test.each([
    ['true', 'true'],
    ['  null ', 'null'],
    ['-1.5', '-1.5'],
    [`'it\\'s'`, '"it\'s"'],
    ['"a \\"b\\""', '"a \\"b\\""'],
    ['trigger.order.total > 100', '(trigger.order.total > 100)'],
    ['trigger.items[0]["first name"]', 'trigger.items.0.first name'],
    ['steps["Look up"].output.text contains "yes"', '(steps.Look up.output.text contains "yes")'],
    ['{{previous.output.text}} == "x"', '(previous.output.text == "x")'],
    ['trigger.a || trigger.b && trigger.c', '(trigger.a || (trigger.b && trigger.c))'],
    ['(trigger.a || trigger.b) && !trigger.c', '((trigger.a || trigger.b) && !trigger.c)'],
    ['!trigger.a == trigger.b', '(!trigger.a == trigger.b)'],
    ['now >= 5 && now<=6 && run.id != "a"', '(((now >= 5) && (now <= 6)) && (run.id != "a"))'],
    ['workflow.id matches "^[0-9]+$"', '(workflow.id matches "^[0-9]+$")'],
    ['trigger.contains contains "a"', '(trigger.contains contains "a")'],
    ['trigger.größe > trigger.$x', '(trigger.größe > trigger.$x)'],
    ['trigger.ünï._.名前.ℵ1.a\u200cb == trigger.a-b', '(trigger.ünï._.名前.ℵ1.a\u200cb == trigger.a-b)'],
    ['trigger.__proto__.constructor', 'trigger.__proto__.constructor'],
  ])('%s', (text, understood) => {
    expect(notify(parseExpression(text))).toBe(understood)
  })

  test.each([
    ['', 'it ends too early'],
    ['true false', '"false" at character 6 is out of place'],
    ['1 < 2 < 3', '"<" at character 7 is out of place'],
    ['trigger.', 'it ends too early'],
    ['trigger[1.5]', '"1.5" at character 9 is out of place'],
    ['(true', 'it ends too early; ")" belongs there'],
    ['{{trigger.a}', 'character 12 starts nothing that is known here'],
    ['"open', 'character 1 starts nothing that is known here'],
    ['trigger.1a', '"a" at character 10 is out of place'],
    ['trigger.😀', 'character 9 starts nothing that is known here'],
    ['total > 1', '"total" at character 1 is no value of a run; paths begin with trigger,'],
    ['eval("1")', '"eval" at character 1 is no value of a run'],
    ['trigger.a = 1', 'character 10 starts nothing that is known here'],
    [`trigger.a matches "${'a'.repeat(513)}"`, 'longer than 512 characters'],
    ['trigger.a matches "["', 'is not closed'],
    ['!'.repeat(40), 'it is nested deeper than 32 levels'],
    ['('.repeat(40), 'it is nested deeper than 32 levels'],
    [' '.repeat(2_001), 'it is longer than 2000 characters'],
  ])('%j is refused', (text, why) => {
    expect(() => parseExpression(text)).toThrow(ExpressionFault)
    expect(() => parseExpression(text)).toThrow(why)
  })

  test('lists the paths of all values it reads', () => {
    const read = pathsOf(parseExpression('!(trigger.a == 1) && (steps[2].output contains previous.output.b || true)'))
    expect(read).toEqual([
      ['trigger', 'a'],
      ['steps', 2, 'output'],
      ['previous', 'output', 'b'],
    ])
  })

  test('of the greatest length is parsed within 2 ms', async () => {
    const text = Array(250)
      .fill('now == 1')
      .join('||')
      .slice(0, 2_000 - 8)
    const effort = await effortOf(() => {
      for (let round = 0; round < 100; round++) parseExpression(text.slice(0, text.lastIndexOf('||')))
    })
    expect(effort).toBeLessThan(200)
  })
})
