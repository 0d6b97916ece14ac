/**
 * Memory of the host that the processes of all tenants share.
 *
 * I1 What a process holds or waits for is gone when its share is closed, whatever happened to it.
 * I2 A tenant counts for half of a room at most: another always finds the other half, and is not held up by those who
 *    wait for more than theirs.
 */

interface Waiter {
  readonly share: Share;
  readonly bytes: number;
  enter(place: Place): void;
}

export class Room {
  readonly #bytesMax: number;
  readonly #heldBy = new Map<string, number>();
  /** In the order of their coming. */
  readonly #waiting = new Set<Waiter>();
  /** Of each tenant its half at most: what was taken beyond is its own trouble. */
  #counted = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get held(): number {
    return this.#heldBy.values().reduce((sum, bytes) => sum + bytes, 0);
  }

  /** What one process has of it. */
  open(tenant: string): Share {
    return new Share(this, tenant);
  }

  hasPlace(tenant: string, bytes: number): boolean {
    return this.#fits(bytes) && this.#isWithinHalf(tenant, bytes);
  }

  wait(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#admit();
  }

  forget(share: Share): void {
    for (const waiter of this.#waiting) if (waiter.share === share) this.#waiting.delete(waiter);
    this.#admit();
  }

  change(tenant: string, bytes: number): void {
    const before = this.#heldBy.get(tenant) ?? 0;
    const after = before + bytes;
    const half = this.#bytesMax / 2;
    if (after === 0) this.#heldBy.delete(tenant);
    else this.#heldBy.set(tenant, after);
    this.#counted += Math.min(after, half) - Math.min(before, half);
    if (bytes < 0) this.#admit();
  }

  #fits(bytes: number): boolean {
    return this.#counted + bytes <= this.#bytesMax;
  }

  #isWithinHalf(tenant: string, bytes: number): boolean {
    return (this.#heldBy.get(tenant) ?? 0) + bytes <= this.#bytesMax / 2;
  }

  /** I2. */
  #admit(): void {
    for (const waiter of this.#waiting) {
      const { share, bytes, enter } = waiter;
      if (!this.#fits(bytes)) return;
      if (!this.#isWithinHalf(share.tenant, bytes)) continue;
      this.#waiting.delete(waiter);
      enter(share.hold(bytes));
    }
  }
}

export class Share {
  readonly tenant: string;
  readonly #room: Room;
  readonly #places = new Set<Place>();
  #isClosed = false;

  constructor(room: Room, tenant: string) {
    this.#room = room;
    this.tenant = tenant;
  }

  /** `enter` is called at once or when there is room; never after the end. */
  take(bytes: number, enter: (place: Place) => void): void {
    if (!this.#isClosed) this.#room.wait({ share: this, bytes, enter });
  }

  /** Without waiting, or not at all. */
  tryTake(bytes: number): Place | undefined {
    return !this.#isClosed && this.#room.hasPlace(this.tenant, bytes) ? this.hold(bytes) : undefined;
  }

  /** Whether there is room or not. */
  hold(bytes: number): Place {
    const place = new Place(this);
    if (this.#isClosed) return place;
    this.#places.add(place);
    place.resize(bytes);
    return place;
  }

  resize(place: Place, bytes: number): boolean {
    if (!this.#places.has(place)) return false;
    this.#room.change(this.tenant, bytes - place.bytes);
    return true;
  }

  leave(place: Place): void {
    if (this.#places.delete(place)) this.#room.change(this.tenant, -place.bytes);
  }

  /** I1. */
  close(): void {
    this.#isClosed = true;
    this.#room.forget(this);
    for (const place of this.#places) this.leave(place);
  }
}

/** So much of a room, until it is left or its share closed; leaving twice is leaving once. */
export class Place {
  readonly #share: Share;
  #bytes = 0;

  constructor(share: Share) {
    this.#share = share;
  }

  get bytes(): number {
    return this.#bytes;
  }

  resize(bytes: number): void {
    if (this.#share.resize(this, bytes)) this.#bytes = bytes;
  }

  leave(): void {
    this.#share.leave(this);
  }
}

const MIB = 1024 * 1024;

/**
 * For frames of `LARGE_FRAME_BYTES` and more, until the host has dealt with them.
 *
 * Without it 32 processes could each have three frames of 49 MiB here: the last beyond their credit, a blocking call
 * and one being collected, 4.6 GiB in all. With it the frames of hostile processes take 256 MiB, and what is not
 * large 32 times 9 MiB of credit and collecting. Who holds room and does not go on loses it with its wall clock.
 */
export const frameRoom = new Room(256 * MIB);

/** From here on a frame waits for room before it is collected. */
export const LARGE_FRAME_BYTES = MIB;

/** For answers, from the beginning of their call until the child has taken them. */
export const answerRoom = new Room(256 * MIB);
