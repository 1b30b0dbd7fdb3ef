/**
 * An adapter by name: its id and its roots are known, and everything else of it is loaded when it is first asked for. Most
 * people have sessions of three clients; the codecs of all would cost each start of a process 50 ms.
 */
import { lazy } from "../platform/lazy.ts"
import type { Adapter, Source } from "./adapter.ts"

/** `load` is a `require`, which gives the module at once, as the members of an adapter are asked for. */
export function listed(id: string, roots: Source["roots"], load: () => Adapter, isIn?: Source["isIn"]): Adapter {
  const adapter = lazy(load)
  const source: Source = {
    roots,
    plan: (root) => adapter().source.plan(root),
    ...(isIn === undefined ? {} : { isIn }),
    askedRoots: (environment, home) => adapter().source.askedRoots?.(environment, home) ?? [],
    isOwn: (path) => adapter().source.isOwn?.(path) === true,
  }
  return new Proxy({ id, source } as Adapter, {
    get: (known, member) => (member === "id" || member === "source" ? known[member] : Reflect.get(adapter(), member)),
    has: (_, member) => Reflect.has(adapter(), member),
    ownKeys: () => Reflect.ownKeys(adapter()),
    // Of a target that has not all of its members, only what may be defined anew can be told.
    getOwnPropertyDescriptor: (_, member) => {
      const own = Reflect.getOwnPropertyDescriptor(adapter(), member)
      return own && { ...own, configurable: true }
    },
  })
}
