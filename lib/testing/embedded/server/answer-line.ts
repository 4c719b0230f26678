/** Sends answers in the order of their requests. An answer that is not known yet holds back those behind it. */
export class AnswerLine {
  readonly #places: { give?: () => void }[] = [];

  /**
   * Reserves the next position. The returned function is called once, with the function that sends the answer in its
   * turn.
   */
  join(): (give: () => void) => void {
    const place: { give?: () => void } = {};
    this.#places.push(place);
    return (give) => {
      place.give = give;
      this.#advance();
    };
  }

  #advance(): void {
    for (let [first] = this.#places; first?.give; [first] = this.#places) {
      this.#places.shift();
      first.give();
    }
  }
}
