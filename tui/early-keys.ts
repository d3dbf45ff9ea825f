const CTRL_C = '\u0003'

/**
 * Takes the keyboard before the screen is there: what is typed no longer shows, and is dropped, except Ctrl-C. `end` reads
 * and drops what is still on its way, and leaves the keyboard to the screen; `giveBack` leaves it as it was.
 */
export function dropEarlyKeys(stdin: NodeJS.ReadStream) {
  const drop = (keys: Uint8Array) => {
    if (!String(keys).includes(CTRL_C)) return
    giveBack()
    process.kill(process.pid, 'SIGINT')
  }
  const stop = () => void stdin.off('data', drop)
  const giveBack = () => {
    stop()
    stdin.setRawMode(false)
  }
  stdin.setRawMode(true)
  stdin.on('data', drop)
  return {
    giveBack,
    async end(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve))
      stop()
    },
  }
}
