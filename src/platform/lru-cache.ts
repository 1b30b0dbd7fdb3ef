/**
 * Size-bounded LRU cache. It evicts by generation: once the younger of two maps has grown to half of the limit, the elder
 * is dropped whole, and an entry that is read from the elder moves to the younger. Evicting entries one by one from the
 * front of a `Map` skips everything deleted before it, which made a search that scores texts 2.6 ms slower.
 */
export class LruCache<Key, Value> {
  readonly #sizeMax: number
  #young = new Map<Key, Entry<Value>>()
  #elder = new Map<Key, Entry<Value>>()
  #youngSize = 0

  /** In whatever unit `set` counts sizes. */
  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: Key): Value | undefined {
    const recent = this.#young.get(key)
    if (recent !== undefined) return recent.value
    const old = this.#elder.get(key)
    if (old === undefined) return undefined
    this.#elder.delete(key)
    this.#insert(key, old)
    return old.value
  }

  /** Replaces what is cached under that key. */
  set(key: Key, value: Value, size: number): void {
    this.#youngSize -= this.#young.get(key)?.size ?? 0
    this.#young.delete(key)
    this.#elder.delete(key)
    this.#insert(key, { value, size })
  }

  clear(): void {
    this.#young = new Map()
    this.#elder = new Map()
    this.#youngSize = 0
  }

  #insert(key: Key, entry: Entry<Value>): void {
    if (this.#youngSize + entry.size > this.#sizeMax / 2) {
      this.#elder = this.#young
      this.#young = new Map()
      this.#youngSize = 0
    }
    this.#young.set(key, entry)
    this.#youngSize += entry.size
  }
}

interface Entry<Value> {
  readonly value: Value
  readonly size: number
}
